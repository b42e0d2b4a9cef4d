import { closeSync, createWriteStream, existsSync, openSync, readSync, type WriteStream } from 'node:fs';
import { UsageError } from '../../core/dump/paths.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { PAGE_SIGN } from '../present/html/page.ts';
import { print } from './output.ts';

/** The file that a page is written to; - is stdout. @throws UsageError for an existing file that is not one of our pages */
export const pageOut = (path: string) => (path === '-' ? { write: print, end: async () => {} } : fileOut(path));

function fileOut(path: string) {
  if (existsSync(path) && !isPage(path))
    throw new UsageError(`--html ${path}: the file exists and is not a page by this program; name another one`);
  let stream: ReturnType<typeof createWriteStream> | null = null;
  let problem: Error | null = null;
  return {
    async write(text: string) {
      if (stream === null) {
        stream = createWriteStream(path, { mode: 0o600 });
        stream.on('error', (error) => {
          problem = error;
        });
      }
      if (!stream.write(text) && problem === null) await drained(stream);
      if (problem !== null) throw new UsageError(`--html ${path}: ${errorMessage(problem)}`);
    },
    async end() {
      if (stream === null) return;
      await new Promise<void>((resolve) => stream!.end(() => resolve()).once('error', () => resolve()));
      if (problem !== null) throw new UsageError(`--html ${path}: ${errorMessage(problem)}`);
    },
  };
}

/** Resolves when the stream takes more or has failed; its own listener handles the error. */
function drained(stream: WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.once('drain', done).once('close', done);
  });
}

function isPage(path: string): boolean {
  const head = Buffer.alloc(PAGE_SIGN.length);
  try {
    const fd = openSync(path, 'r');
    readSync(fd, head, 0, head.length, 0);
    closeSync(fd);
  } catch {
    return false;
  }
  return head.toString('latin1') === PAGE_SIGN;
}
