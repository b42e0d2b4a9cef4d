import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Brings a part of a file that is still elsewhere. @throws Error if it cannot be had */
export type NeedBytes = (start: number, end: number) => Promise<void>;

/** The bytes of a file, or of one whose parts come when they are read. */
export interface FileBytes {
  readonly byteLength: number;
  /** @throws UnreadBytes */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
  close(): void;
}

/** Bytes that the system or the store does not hand out: no fault of what they hold. */
export class UnreadBytes extends Error {
  constructor(cause: unknown) {
    super('bytes cannot be read', { cause });
  }
}

/** @param need null for a file that is here */
export function openBytes(path: string, need: NeedBytes | null): FileBytes {
  const fd = openSync(path, 'r');
  const { size } = fstatSync(fd);
  return {
    byteLength: size,
    async slice(start, end = size) {
      try {
        const from = Math.min(size, start < 0 ? Math.max(0, size + start) : start);
        const buffer = new ArrayBuffer(Math.max(0, Math.min(end, size) - from));
        await need?.(from, from + buffer.byteLength);
        readWhole(fd, buffer, from);
        return buffer;
      } catch (error) {
        throw new UnreadBytes(error);
      }
    },
    close: () => closeSync(fd),
  };
}

const FIRST_PART = 1 << 18;
const LARGEST_PART = 32 << 20;
const CHUNK = 1 << 20;

/** The bytes of a file from its start. Each part that is asked for is twice as long as the one before: its reader may stop soon. */
export async function* bytesInOrder(path: string, need: NeedBytes | null): AsyncGenerator<Buffer> {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    let part = need === null ? size : FIRST_PART;
    for (let at = 0, end = 0; at < size; ) {
      if (at === end) {
        end = Math.min(size, at + part);
        part = Math.min(LARGEST_PART, part * 2);
        await need?.(at, end);
      }
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, end - at));
      const read = readSync(fd, chunk, 0, chunk.length, at);
      if (read === 0) return;
      yield chunk.subarray(0, read);
      at += read;
    }
  } finally {
    closeSync(fd);
  }
}

/** One call of the system reads no more than 2 GB. */
const MOST_READ = 1 << 30;

/** As far as there are bytes. */
function readWhole(fd: number, buffer: ArrayBuffer, from: number): void {
  for (let at = 0; at < buffer.byteLength; ) {
    const length = Math.min(buffer.byteLength - at, MOST_READ);
    const read = readSync(fd, new Uint8Array(buffer, at), 0, length, from + at);
    if (read === 0) return;
    at += read;
  }
}
