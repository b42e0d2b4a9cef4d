import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../../../core/dump/paths.ts';
import { isProcessAlive } from '../../../core/files/alive.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
const BUFFER = 1 << 20;

/** A process number means nothing on another machine that shares the folder. */
const HOST = hostname().replace(/[^\w.]/g, '_');

/** Compresses a piece of a file; the pieces one behind the other are a file again. */
export type Pack = (data: Buffer) => Buffer;

/** A file that appears whole or not at all: it is written next to its destination and renamed at the end. */
export class WholeFile {
  readonly path: string;
  /** The file that is written until `commit`. */
  readonly part: string;
  readonly fd: number;
  readonly #packed: Pack;
  #pending: Buffer[] = [];
  #size = 0;
  /** Bytes written so far. */
  bytes = 0;

  /**
   * @param packed compresses what is written
   * @throws UsageError if a device, a pipe or a directory has its name, also behind a link: the rename would replace it
   * @throws the system's error if the folder takes no file
   */
  constructor(path: string, packed: Pack = (data) => data) {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there?.isFile() === false) throw new UsageError(`${path}: not a regular file; nothing was written`);
    this.path = path;
    this.#packed = packed;
    removeLeftovers(path);
    this.part = `${path}.${HOST}-${process.pid}.part`;
    this.fd = openSync(this.part, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, 0o666);
  }

  /** @throws the system's error, such as ENOSPC */
  write(data: Buffer | string): void {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.#pending.push(bytes);
    this.#size += bytes.length;
    this.bytes += bytes.length;
    if (this.#size >= BUFFER) this.flush();
  }

  flush(): void {
    if (this.#size === 0) return;
    const all = this.#packed(Buffer.concat(this.#pending));
    this.#pending = [];
    this.#size = 0;
    for (let at = 0; at < all.length; ) at += writeSync(this.fd, all, at);
  }

  /** Writes the rest. @throws the system's error, such as ENOSPC */
  finish(): void {
    this.flush();
    fsyncSync(this.fd);
    closeSync(this.fd);
  }

  /** Makes the file visible under its name. @throws the system's error; the previous file is then still there */
  publish(): void {
    renameSync(this.part, this.path);
  }

  /** Leaves no trace. */
  discard(): void {
    try {
      closeSync(this.fd);
    } catch {
      // It was closed before its rename failed.
    }
    try {
      unlinkSync(this.part);
    } catch {
      // Already renamed, or somebody removed it.
    }
  }
}

/** Removes the parts of a file that killed processes of this machine left behind. */
function removeLeftovers(path: string): void {
  const before = `${basename(path)}.${HOST}-`;
  for (const name of filesIn(dirname(path))) {
    if (!name.startsWith(before)) continue;
    const [, pid] = /^(\d+)\.part$/.exec(name.slice(before.length)) ?? [];
    if (pid === undefined || (Number(pid) !== process.pid && isProcessAlive(Number(pid)))) continue;
    try {
      unlinkSync(join(dirname(path), name));
    } catch {
      // Another run removed it first, or the folder belongs to somebody else.
    }
  }
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
