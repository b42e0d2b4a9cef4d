import type { JsonObject, JsonValue } from '../../json/value.ts';

/** A value as hyparquet decodes it: int64 is a bigint, non-text bytes are a byte array, times are Dates. */
export function jsonOf(value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return bytesAsText(value);
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, jsonOf);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Map) return foreignObject([...value].map(([key, one]) => [String(key), one]));
  if (typeof value === 'object') return foreignObject(Object.entries(value));
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : String(value);
}

function foreignObject(entries: [string, unknown][]): JsonObject {
  const object: JsonObject = Object.create(null);
  for (const [key, value] of entries) object[key] = jsonOf(value);
  return object;
}

/** JSON has no bytes: UTF-8 becomes text, an image a note of its type and size, other bytes a note of their length. */
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
