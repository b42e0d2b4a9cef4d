import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { printJson } from '../../json/print.ts';
import type { JsonObject, JsonValue } from '../../json/value.ts';
import type { CopyLine } from './lines-in.ts';

/** Rows that are read before any others: the first rollout is wanted at once. */
const FIRST_ROWS = 16;
const MOST_ROWS = 2000;

/**
 * The rows of a parquet file, some hundred at a time. A column's values come in the pages of their row group; reading rows in order touches
 * each page a few times at most, so the file is copied once rather than searched for each row.
 */
export async function* parquetRows(path: string): AsyncGenerator<CopyLine> {
  const [{ parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const file = {
      byteLength: size,
      slice(start: number, end = size): ArrayBuffer {
        const from = start < 0 ? size + start : start;
        const buffer = new ArrayBuffer(Math.max(0, Math.min(end, size) - from));
        readSync(fd, new Uint8Array(buffer), 0, buffer.byteLength, from);
        return buffer;
      },
    };
    const metadata = await parquetMetadataAsync(file);
    let row = 0;
    for (const group of metadata.row_groups) {
      const end = row + Number(group.num_rows);
      // A large group is decoded in few passes: each pass begins at the group's first page again.
      const step = Math.max(MOST_ROWS, Math.ceil(Number(group.num_rows) / 8));
      while (row < end) {
        const rowEnd = Math.min(end, row + (row === 0 ? FIRST_ROWS : step));
        const rows = await parquetReadObjects({ file, metadata, compressors, rowStart: row, rowEnd });
        for (const one of rows) yield { text: printJson(jsonOf(one) as JsonObject) };
        row = rowEnd;
      }
    }
  } finally {
    closeSync(fd);
  }
}

/** A value as hyparquet decodes it: int64 is a bigint, bytes that are no text are an array of bytes, times are Dates. */
export function jsonOf(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return bytesAsText(value);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, jsonOf);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Map) return objectOf([...value].map(([key, one]) => [String(key), one]));
  if (typeof value === 'object') return objectOf(Object.entries(value));
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
}

function objectOf(entries: [string, unknown][]): JsonObject {
  const object: JsonObject = Object.create(null);
  for (const [key, value] of entries) object[key] = jsonOf(value);
  return object;
}

/** JSON has no bytes: UTF-8 is text, an image says what it is and how large, other bytes say how many they are. */
export function bytesAsText(bytes: Uint8Array): string {
  const kind = IMAGES.find(([, magic]) => magic.every((byte, at) => bytes[at] === byte))?.[0];
  if (kind !== undefined) return `[image ${kind} ${Math.max(1, Math.round(bytes.length / 1000))} kB]`;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return `[${bytes.length} bytes]`;
  }
}

const IMAGES: [string, number[]][] = [
  ['png', [0x89, 0x50, 0x4e, 0x47]],
  ['jpeg', [0xff, 0xd8, 0xff]],
  ['gif', [0x47, 0x49, 0x46, 0x38]],
  ['webp', [0x52, 0x49, 0x46, 0x46]],
];
