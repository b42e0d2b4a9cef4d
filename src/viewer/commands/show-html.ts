import { closeSync, createWriteStream, existsSync, openSync, readSync, type WriteStream } from 'node:fs';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { plural } from '../../core/text/numbers.ts';
import { sizeText } from '../../core/text/quantities.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { comparisonArticle } from '../present/html/comparison.ts';
import { type ContentsRow, PAGE_SIGN, pageEnd, pageStart } from '../present/html/page.ts';
import { PAGE_HEAD, pageRow, rolloutArticle } from '../present/html/rollout.ts';
import { print, say } from './output.ts';
import type { WrittenForm } from './written-form.ts';

/** Browsers struggle with larger pages. */
const LARGE = 100e6;

/**
 * @param isComparison two rollouts: shown side by side, then each on its own below
 * @param path - is stdout. @throws UsageError for an existing file that is not one of our pages: it might be somebody's dump
 */
export function htmlForm(path: string, title: string, isComparison: boolean): WrittenForm {
  const out = pageOut(path);
  const rows: ContentsRow[] = [];
  const articles: string[] = [];
  let first: DumpRecord | null = null;
  let bytes = 0;
  const write = async (text: string) => {
    bytes += Buffer.byteLength(text);
    await out.write(text);
  };
  return {
    async row(row, labels, turn) {
      if (rows.length === 0) await write(pageStart(title));
      const id = `r${rows.length + 1}`;
      rows.push(pageRow(row, id, labels));
      articles.push(rolloutArticle(row, id, labels, turn));
      // Two compared rollouts come after their differences.
      if (isComparison && first === null) first = row;
      else {
        if (first !== null) await write(comparisonArticle(first, row, 'c'));
        for (const article of articles.splice(0)) await write(article);
      }
    },
    async end() {
      if (rows.length > 0) await write(pageEnd(PAGE_HEAD, rows));
      await out.end();
      if (path === '-' || rows.length === 0) return;
      say(`${path}: ${plural(rows.length, 'rollout')}, ${sizeText(bytes)}`);
      if (bytes > LARGE) say('a page of this size opens slowly: --filter and --limit make it smaller');
    },
  };
}

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
