import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { itemAt, numberInAt, uint8At } from '../../lists/at.ts';
import type { NeedBytes } from './file-bytes.ts';
import { BombGuard } from './limits.ts';

const SKIPPABLE = 0x184d2a50;
const FRAME = 0xfd2fb528;

/**
 * Unpacks a .zst frame by frame, so that a seekable file (frames of 4 MB and a skippable table at its end) takes the
 * memory of one frame. An incomplete frame ends it with an error.
 * @param need for a file that is elsewhere: its frames are asked for one by one if a table says where they are
 */
export async function* unzstd(path: string, need: NeedBytes | null = null): AsyncGenerator<Uint8Array> {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const guard = new BombGuard(size);
    let at = 0;
    for (const end of need === null ? [] : await frameEnds(fd, size, need)) {
      await need?.(at, end);
      // The table is the file's word for it: the frame's own blocks decide.
      if (!isFrame(fd, at, end)) break;
      yield* unzstdIn(fd, at, end, guard);
      at = end;
    }
    await need?.(at, size);
    yield* unzstdIn(fd, at, size, guard);
  } finally {
    closeSync(fd);
  }
}

function isFrame(fd: number, start: number, end: number): boolean {
  try {
    return frameAt(fd, start, end).length === end - start;
  } catch {
    return false;
  }
}

const SEEKABLE = 0x8f92eab1;
const SEEK_FOOTER = 9;

/** The ends of the frames by the seek table at the end of a file; none without a table, or if it is of other frames. */
async function frameEnds(fd: number, size: number, need: NeedBytes): Promise<number[]> {
  const bytes = async (length: number): Promise<Buffer> => {
    await need(size - length, size);
    const buffer = Buffer.alloc(length);
    readSync(fd, buffer, 0, length, size - length);
    return buffer;
  };
  if (size < SEEK_FOOTER + 8) return [];
  const footer = await bytes(SEEK_FOOTER);
  if (footer.readUInt32LE(5) !== SEEKABLE) return [];
  const count = footer.readUInt32LE(0);
  const entry = (uint8At(footer, 4) & 0x80) !== 0 ? 12 : 8;
  const length = 8 + count * entry + SEEK_FOOTER;
  if (length > size || length > LARGEST_TABLE) return [];
  const table = await bytes(length);
  if (table.readUInt32LE(0) !== (SKIPPABLE | 0xe) >>> 0 || table.readUInt32LE(4) !== length - 8) return [];
  const ends: number[] = [];
  for (let i = 0, at = 0; i < count; i++) {
    at += table.readUInt32LE(8 + i * entry);
    ends.push(at);
  }
  return (ends.at(-1) ?? 0) === size - length ? ends : [];
}

const LARGEST_TABLE = 256 << 20;

/** The same for the bytes from `start` to `end`. */
export async function* unzstdIn(fd: number, start: number, end: number, guard: BombGuard): AsyncGenerator<Uint8Array> {
  const decode = await frameDecoder();
  for (let at = start; at < end; ) {
    const { length, isData, most } = frameAt(fd, at, end);
    if (isData && most > LARGE_FRAME) {
      for await (const piece of largeFrame(fd, at, length)) {
        guard.add(piece.length);
        yield piece;
      }
    } else if (isData) {
      const packed = Buffer.alloc(length);
      readSync(fd, packed, 0, length, at);
      const unpacked = decode(packed, most);
      guard.add(unpacked.length);
      yield unpacked;
    }
    at += length;
  }
}

/** A frame that may contain more than this is unpacked in pieces: it takes longer, but its first rows are there at once. */
const LARGE_FRAME = 16 << 20;
const CHUNK = 1 << 20;

async function* largeFrame(fd: number, at: number, length: number): AsyncGenerator<Uint8Array> {
  const { ZSTDDecoder } = await import('zstddec/stream');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  yield* decoder.decodeStreaming(
    (function* () {
      for (let from = at; from < at + length; from += CHUNK) {
        const chunk = Buffer.alloc(Math.min(CHUNK, at + length - from));
        readSync(fd, chunk, 0, chunk.length, from);
        yield chunk;
      }
    })(),
  );
}

/** zstd for one member of an archive: all its frames. */
export async function unzstdBytes(packed: Uint8Array, guard: BombGuard): Promise<Uint8Array> {
  const decode = await frameDecoder();
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < packed.length; ) {
    const take = (bytes: Uint8Array, from: number) => bytes.set(packed.subarray(from, from + bytes.length));
    const { length, isData, most } = frameIn(take, at, packed.length);
    if (isData) {
      guard.add(most > LARGE_FRAME ? most : 0);
      const piece = decode(packed.subarray(at, at + length), most);
      guard.add(piece.length);
      pieces.push(piece);
    }
    at += length;
  }
  return pieces.length === 1 ? itemAt(pieces, 0) : Buffer.concat(pieces);
}

/** Decodes one frame into at most so many bytes. The decoder returns nothing for damaged data. */
async function frameDecoder(): Promise<(frame: Uint8Array, most: number) => Uint8Array> {
  const { ZSTDDecoder } = await import('zstddec/stream');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  return (frame, most) => {
    const unpacked = most === 0 ? new Uint8Array() : decoder.decode(frame, most);
    if (unpacked.length === 0 && most > 0) throw new Error('a zstd frame is damaged');
    return unpacked;
  };
}

interface ZstdFrame {
  /** Bytes in the file. */
  length: number;
  isData: boolean;
  /** Upper bound on the unpacked bytes: from the header, or from the blocks' capacity, whichever is less. */
  most: number;
}

/** The largest size of an unpacked block. */
const MOST_OF_BLOCK = 1 << 17;

const frameAt = (fd: number, at: number, size: number): ZstdFrame =>
  frameIn((bytes, from) => readSync(fd, bytes, 0, bytes.length, from), at, size);

/** Walks the blocks of a frame by their headers (RFC 8878). */
function frameIn(read: (bytes: Uint8Array, from: number) => void, at: number, size: number): ZstdFrame {
  const torn = () => new Error('the last zstd frame is not complete: still being written, or cut off');
  const head = Buffer.alloc(18);
  read(head, at);
  const magic = head.readUInt32LE(0);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
    const length = 8 + head.readUInt32LE(4);
    if (at + length > size) throw torn();
    return { length, isData: false, most: 0 };
  }
  if (magic !== FRAME) throw new Error(`no zstd frame at byte ${at}: the file is damaged`);
  const descriptor = uint8At(head, 4);
  const isSingle = (descriptor & 0x20) !== 0;
  const dictionary = numberInAt([0, 1, 2, 4], descriptor & 3);
  const sizeBytes = numberInAt([isSingle ? 1 : 0, 2, 4, 8], descriptor >> 6);
  let next = 5 + (isSingle ? 0 : 1) + dictionary;
  const content = contentSize(head, next, sizeBytes);
  next += sizeBytes;
  const block = Buffer.alloc(3);
  let most = 0;
  for (let from = at + next; ; ) {
    if (from + 3 > size) throw torn();
    read(block, from);
    const header = block.readUIntLE(0, 3);
    const kind = (header >> 1) & 3;
    from += 3 + (kind === 1 ? 1 : header >> 3);
    most += kind === 2 ? MOST_OF_BLOCK : header >> 3;
    if ((header & 1) === 0) continue;
    const end = from + ((descriptor & 4) !== 0 ? 4 : 0);
    if (end > size) throw torn();
    return { length: end - at, isData: true, most: content > 0 ? Math.min(content, most) : most };
  }
}

function contentSize(head: Buffer, at: number, bytes: number): number {
  if (bytes === 1) return uint8At(head, at);
  if (bytes === 2) return head.readUInt16LE(at) + 256;
  if (bytes === 4) return head.readUInt32LE(at);
  return bytes === 8 ? Number(head.readBigUInt64LE(at)) : 0;
}
