import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { plural } from '../../core/text/numbers.ts';
import { sizeText } from '../../core/text/quantities.ts';
import { comparisonArticle } from '../present/html/comparison.ts';
import { type ContentsRow, pageEnd, pageStart } from '../present/html/page.ts';
import { PAGE_HEAD, pageRow, rolloutArticle } from '../present/html/rollout.ts';
import { say } from './output.ts';
import { pageOut } from './page-out.ts';
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
