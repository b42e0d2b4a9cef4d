import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { ReadContext } from '../formats/format.ts';
import { reasonOf } from '../text/problems.ts';
import { type ContainerKind, type OpenedContainer, openContainer } from './containers/open.ts';
import { MAX_LENGTH } from './line-index.ts';
import { awayLine, originOf } from './origins.ts';

/** Distinguishes one content of a path from another. */
export interface Identity {
  device: number;
  inode: number;
  size: number;
  modified: number;
  /** The ctime, which nobody can set back; renaming changes it as well. */
  changed: number;
}

/** The device of a file of which nothing is here. */
export const NOWHERE = -1;

/** Longer lines cannot become a string in Node 20. */
const MAX_STRING = 0x1fffffe8;
/** Size of the samples that distinguish growth from a new content, and their number between head and tail. */
const SAMPLE = 512;
const SAMPLES = 8;
const DIGESTED_AT_ONCE = 1 << 20;

/**
 * The bytes behind a path: a file of lines as it is, or the records of any other container, one per line. Never
 * written.
 */
export class FileContent {
  readonly path: string;
  /** Descriptor of the nameless file with the records of a container, or with the bytes of a stream; reads go there. */
  #nameless: number | null = null;

  #away: string | null = null;

  /** A stream that is saved to a nameless file as it arrives. */
  readonly isStream: boolean;

  constructor(path: string, stream: number | null = null) {
    this.path = path;
    this.#nameless = stream;
    this.isStream = stream !== null;
  }

  /**
   * The path at which another thread finds the bytes: a nameless file is reached through its descriptor, which threads
   * share.
   */
  get readablePath(): string {
    return this.#nameless === null ? (this.#away ?? this.path) : `/dev/fd/${this.#nameless}`;
  }

  /** Its row is a line of this file until it is opened. */
  readAt(path: string): void {
    this.#away = path;
  }

  identity(): Identity {
    const partial = this.isStream ? undefined : originOf(this.path)?.partial;
    if (partial !== undefined) {
      const { dev, ino } = statSync(partial.path);
      // The parts that come are no changes.
      return { device: dev, inode: ino, size: partial.size, modified: 0, changed: 0 };
    }
    const away = this.isStream ? undefined : awayLine(this.path);
    if (away !== undefined)
      return { device: NOWHERE, inode: away.offset, size: away.length + 1, modified: 0, changed: 0 };
    const { dev, ino, size, mtimeMs, ctimeMs } =
      this.isStream && this.#nameless !== null ? fstatSync(this.#nameless) : statSync(this.path);
    return { device: dev, inode: ino, size, modified: mtimeMs, changed: ctimeMs };
  }

  /** How the file is packed; null until it was opened. */
  kind: ContainerKind | null = null;

  /**
   * Opens the bytes for a scan. A container is unpacked again, and its copy grows during the scan. @param inThread
   * unpack a large one in a thread @param nearest see `openContainer`
   */
  async open(
    context: ReadContext,
    inThread: boolean,
    nearest = 1,
  ): Promise<{ handle: FileHandle } & Omit<OpenedContainer, 'kind'>> {
    if (this.isStream) return { handle: await open(this.readablePath, 'r'), shape: null, copy: null };
    const { kind, ...opened } = await openContainer(this.path, context, this.path, inThread, nearest);
    this.close();
    this.#away = null;
    this.kind = kind;
    if (opened.copy !== null) this.#nameless = opened.copy.fd;
    return { handle: await open(this.readablePath, 'r'), ...opened };
  }

  get isArchive(): boolean {
    return this.#nameless !== null && !this.isStream;
  }

  /** A line's text. If it cannot be read the result is a reason, never an exception. */
  line(offset: number, length: number): string | { problem: string } {
    if (length >= Math.min(MAX_STRING, MAX_LENGTH))
      return { problem: `a line of ${length} bytes is more than can be shown` };
    // Also reads the byte before and after the line: if they are not its borders, the file was rewritten.
    const before = offset > 3 ? 1 : 0;
    const buffer = Buffer.allocUnsafe(before + length + 1);
    let read = 0;
    try {
      const fd = this.#nameless ?? openSync(this.#away ?? this.path, 'r');
      try {
        const { size } = fstatSync(fd);
        if (size < offset + length) {
          return { problem: `the file shrank to ${size} bytes after it was read; this record began at byte ${offset}` };
        }
        while (read < buffer.length) {
          const got = readSync(fd, buffer, read, buffer.length - read, offset - before + read);
          if (got === 0) break;
          read += got;
        }
      } finally {
        if (this.#nameless === null) closeSync(fd);
      }
    } catch (error) {
      return { problem: `${reasonOf(error)} (it could be read before)` };
    }
    const end = before + length;
    const isWhole = (before === 0 || buffer[0] === 10) && (read === end || buffer[end] === 10);
    if (!isWhole)
      return { problem: `the file was rewritten after it was read: no line starts at byte ${offset} any more` };
    const last = buffer[end - 1] === 13 ? end - 1 : end;
    return buffer.toString('utf8', before, last);
  }

  close(): void {
    if (this.#nameless !== null) closeSync(this.#nameless);
    this.#nameless = null;
  }
}

/**
 * Samples of the first `length` bytes: head, tail and places between. If a file grew and its samples are unchanged, it
 * was appended to. A run that rewrites a step changes the scores at the tail of its lines, or the number of lines, and
 * so at least one sample.
 */
export function samplesOf(fd: number, length: number): string {
  const size = Math.min(SAMPLE, length);
  const samples = Buffer.alloc(size * SAMPLES);
  for (let i = 0; i < SAMPLES; i++) {
    const position = Math.floor(((length - size) * i) / (SAMPLES - 1));
    readSync(fd, samples, i * size, size, position);
  }
  return createHash('sha256').update(samples).digest('hex');
}

/** All of the first `length` bytes. */
export async function digestOf(handle: FileHandle, length: number): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(length, DIGESTED_AT_ONCE)));
  for (let position = 0; position < length; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, length - position), position);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
  return hash.digest('hex');
}

/** A file that came in parts is whole now, with the bytes that were read. */
export const isCompleted = (seen: Identity, now: Identity): boolean =>
  seen.changed === 0 && seen.device === now.device && seen.inode === now.inode && seen.size === now.size;
