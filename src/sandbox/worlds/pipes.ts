import { execFileSync } from 'node:child_process';
import { constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** The folder of a world's own that holds them, and its place in the world: what is in it can be opened there, and not replaced. */
export const PIPES = { folder: 'pipes', path: '/dev/pipes' };

interface OutputPipes {
  out: Readable;
  errors: Readable;
  /** In the world. */
  paths: { out: string; errors: string };
}

/** Further output streams of a running shell: named pipes, which it opens itself. */
export class Pipes {
  readonly #folder: string;
  #sockets: Socket[] = [];
  #count = 0;

  constructor(folder: string) {
    this.#folder = join(folder, PIPES.folder);
  }

  open(): OutputPipes {
    const names = [`out-${this.#count}`, `errors-${this.#count}`] as const;
    this.#count++;
    const files = names.map((name) => join(this.#folder, name));
    execFileSync('mkfifo', ['-m', '600', '--', ...files]);
    const [out, errors] = files.map((file) => {
      // A reader that could write as well sees no end before the shell has opened its side.
      const fd = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
      const socket = new Socket({ fd, readable: true, writable: false });
      this.#sockets.push(socket);
      return socket;
    });
    if (out === undefined || errors === undefined) throw new Error('no pipes');
    return { out, errors, paths: { out: `${PIPES.path}/${names[0]}`, errors: `${PIPES.path}/${names[1]}` } };
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets = [];
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
