import { closeSync, constants, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;
const BUFFER = 1 << 20;

/** A file that appears whole or not at all: it is written next to its destination and renamed at the end. */
export class WholeFile {
  readonly path: string;
  /** The file that is written until `commit`. */
  readonly part: string;
  readonly fd: number;
  #pending: Buffer[] = [];
  #size = 0;
  /** Bytes written so far. */
  bytes = 0;

  /** @throws the system's error if the folder takes no file */
  constructor(path: string) {
    this.path = path;
    this.part = `${path}.${process.pid}.part`;
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
    const all = Buffer.concat(this.#pending);
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
