import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { LineIndex } from './line-index.ts';
import { TailKeys } from './tail-keys.ts';

/**
 * A chunk stays in a core's second-level cache between the read and the search: for 250 MB, chunks of 128 kB take 130
 * ms, chunks of 1 MB 520.
 */
const CHUNK = 128 << 10;
/** The part of the previous chunk that is kept, so that the tail of a line that ends early in a chunk is available. */
const OVERLAP = 4096;
const NEWLINE = 10;

export interface LineScan {
  /** The offset of the next byte to read. */
  position: number;
  /** The start of the line that has no newline yet, else `position`. */
  lineStart: number;
}

/** How long the event loop may be blocked, in ms: a waiting key still has most of a frame. */
const SLICE = 4;
/** A read that takes longer, in ms, comes from a disk or a network; the next ones go to the thread pool. */
const SLOW_READ = 4;
/**
 * One for all files, because fresh memory costs a page fault every 4 kB. The running scan owns it; a concurrent one
 * allocates another.
 */
let shared: Buffer | null = Buffer.allocUnsafeSlow(OVERLAP + CHUNK);

/**
 * Reads a file from `scan.position` to its end and adds every complete line to the index, with score and step from its
 * tail. From the page cache 1 GB takes 150 ms with synchronous reads and 250 ms through the thread pool. So reads are
 * synchronous, in slices between which the screen can update, until one of them is slow.
 * @param quickKeys null if only a parse gives score and step
 * @param onChunk called after each chunk; returns false to stop there
 */
export async function scanLines(
  handle: FileHandle,
  index: LineIndex,
  scan: LineScan,
  quickKeys: { score: string; step: string } | null,
  onChunk: () => boolean,
): Promise<void> {
  const tail = quickKeys === null ? null : new TailKeys([quickKeys.score, quickKeys.step]);
  const buffer = shared ?? Buffer.allocUnsafeSlow(OVERLAP + CHUNK);
  shared = null;
  try {
    // A resumed scan needs the tail of what was read before, in case a line ends right after it.
    const known = Math.min(OVERLAP, scan.position);
    if (known > 0) readSync(handle.fd, buffer, OVERLAP - known, known, scan.position - known);
    let sliceStart = performance.now();
    let isSlow = false;
    for (;;) {
      const before = performance.now();
      const length = isSlow
        ? (await handle.read(buffer, OVERLAP, CHUNK, scan.position)).bytesRead
        : readSync(handle.fd, buffer, OVERLAP, CHUNK, scan.position);
      if (length === 0) return;
      const after = performance.now();
      isSlow = after - before > SLOW_READ;
      const base = scan.position - OVERLAP;
      const end = OVERLAP + length;
      for (let at = buffer.indexOf(NEWLINE, OVERLAP); at !== -1 && at < end; at = buffer.indexOf(NEWLINE, at + 1)) {
        addLine(index, tail, buffer, base, scan.lineStart, at);
        scan.lineStart = base + at + 1;
      }
      scan.position += length;
      buffer.copyWithin(0, end - OVERLAP, end);
      if (!onChunk()) return;
      if (performance.now() - sliceStart > SLICE) {
        await setImmediate();
        sliceStart = performance.now();
      }
    }
  } finally {
    shared = buffer;
  }
}

/** Adds the last line of a file that does not end in a newline. */
export async function addUnendedLine(
  handle: FileHandle,
  index: LineIndex,
  scan: LineScan,
  quickKeys: { score: string; step: string } | null,
): Promise<void> {
  const length = Math.min(OVERLAP, scan.position - scan.lineStart);
  if (length === 0) return;
  const tail = quickKeys === null ? null : new TailKeys([quickKeys.score, quickKeys.step]);
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, scan.position - length);
  addLine(index, tail, buffer, scan.position - length, scan.lineStart, bytesRead);
}

/** @param base the file offset of the buffer's first byte  @param end the line's end in the buffer */
function addLine(
  index: LineIndex,
  tail: TailKeys | null,
  buffer: Buffer,
  base: number,
  lineStart: number,
  end: number,
): void {
  const lineEnd = base + end;
  const from = Math.max(0, lineStart - base);
  // A BOM at the file's start belongs to no record.
  const start =
    lineStart === 0 &&
    from + 3 <= end &&
    buffer[from] === 0xef &&
    buffer[from + 1] === 0xbb &&
    buffer[from + 2] === 0xbf
      ? 3
      : lineStart;
  if (isBlankLine(buffer, Math.max(from, start - base), end) && start >= base) {
    index.addBlank();
    return;
  }
  tail?.read(buffer, Math.max(0, start - base), end);
  index.add(start, lineEnd - start, tail?.values[0], tail?.values[1]);
}

function isBlankLine(buffer: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = buffer[at];
    if (byte !== 32 && byte !== 13 && byte !== 9) return false;
  }
  return true;
}
