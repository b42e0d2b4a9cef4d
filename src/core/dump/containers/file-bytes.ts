import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Brings a part of a file that is still elsewhere. @throws Error if it cannot be had */
export type NeedBytes = (start: number, end: number) => Promise<void>;

/** The bytes of a file, or of one whose parts come when they are read. */
export interface FileBytes {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
  close(): void;
}

/** @param need null for a file that is here */
export function openBytes(path: string, need: NeedBytes | null): FileBytes {
  const fd = openSync(path, 'r');
  const { size } = fstatSync(fd);
  return {
    byteLength: size,
    async slice(start, end = size) {
      const from = Math.min(size, start < 0 ? Math.max(0, size + start) : start);
      const buffer = new ArrayBuffer(Math.max(0, Math.min(end, size) - from));
      await need?.(from, from + buffer.byteLength);
      for (let at = 0; at < buffer.byteLength; ) {
        const read = readSync(
          fd,
          new Uint8Array(buffer, at),
          0,
          Math.min(buffer.byteLength - at, MOST_READ),
          from + at,
        );
        if (read === 0) break;
        at += read;
      }
      return buffer;
    },
    close: () => closeSync(fd),
  };
}

/** One call of the system reads no more than 2 GB. */
const MOST_READ = 1 << 30;
