// Real pipes for a program's output. Node gives its children socket pairs, and Linux refuses to open a socket by
// name: `echo … > /dev/stderr`, common in shell scripts, would fail with ENXIO.
import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { temporaryFolder } from './leftovers.ts';

export interface Pipe {
  readonly readable: Readable;
  /** For the child; close it with `release` once the child has it, or the stream never ends. */
  readonly writeFd: number;
  release(): void;
  /** Ends the stream, though somebody may still write to it. `take` gets what was written and is not read yet. */
  cut(take: (chunk: Buffer) => void): void;
}

/** mkfifo is a separate process. */
const AT_ONCE = 32;
/** The most that a pipe of Linux holds for an unprivileged user. A writer that never stops cannot hold up a cut for longer. */
const MOST_HELD = 1 << 20;

export class PipePool {
  /** Read ends of nameless FIFOs: an open file keeps a FIFO alive after its name is gone, and /proc can reopen it. */
  readonly #keepers: number[] = [];

  async #grow(): Promise<void> {
    const folder = temporaryFolder();
    try {
      const names = Array.from({ length: AT_ONCE }, (_, index) => join(folder, String(index)));
      // Anyone may open it, but nobody can find it: the folder is private, and gone before a program starts.
      await promisify(execFile)('mkfifo', ['-m', '666', ...names]);
      for (const name of names) {
        const fd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
        this.#keepers.push(fd);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  async take(): Promise<Pipe> {
    while (this.#keepers.length === 0) await this.#grow();
    const keeper = this.#keepers.pop()!;
    const path = `/proc/self/fd/${keeper}`;
    const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    let writeFd: number | null = openSync(path, constants.O_WRONLY);
    const readable = new Socket({ fd: readFd, readable: true, writable: false });
    // Never reused: its program may have changed its mode, its size or its flags.
    readable.on('close', () => closeSync(keeper));
    return {
      readable,
      writeFd,
      release() {
        if (writeFd !== null) closeSync(writeFd);
        writeFd = null;
      },
      cut(take) {
        if (readable.destroyed) return;
        try {
          for (let left = MOST_HELD; left > 0; ) {
            const part = Buffer.allocUnsafe(64 * 1024);
            const length = readSync(readFd, part);
            if (length === 0) break;
            take(part.subarray(0, length));
            left -= length;
          }
        } catch {
          // Nothing is left in it.
        }
        readable.destroy();
      },
    };
  }

  close(): void {
    for (const fd of this.#keepers.splice(0)) closeSync(fd);
  }
}
