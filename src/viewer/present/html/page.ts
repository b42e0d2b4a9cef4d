import { createHash } from 'node:crypto';
import { itemAt } from '../../../core/lists/at.ts';
import { sanitise } from '../../../core/text/sanitise.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';

/** Text from data as page text: none of it is markup, and characters that would hide or reorder text are visible. */
export const escaped = (text: string): string =>
  sanitise(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const sourceHash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The first bytes of every page that this program writes: only such a file is overwritten. */
export const PAGE_SIGN = '<!doctype html><!-- rollout-viewer -->';

/**
 * The start of a self-contained page: it fetches nothing, runs nothing from the data (the policy allows only the two texts below, by their
 * hashes), and needs no server.
 */
export const pageStart = (title: string): string => `${PAGE_SIGN}
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${sourceHash(STYLE)}; script-src ${sourceHash(SCRIPT)}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title><style>${STYLE}</style></head><body>
<header><h1>${escaped(title)}</h1><input type="search" placeholder="search: /" aria-label="search"><output></output><button type="button">light, dark</button></header>
<main>
`;

/** A column of the contents; numbers are right-aligned. */
export interface ContentsColumn {
  title: string;
  isNumber: boolean;
}

export interface ContentsRow {
  /** The anchor of its article. */
  id: string;
  name: string;
  cells: readonly string[];
}

/** The end of a page, with a table of contents if it has more than one entry. */
export function pageEnd(head: readonly ContentsColumn[], rows: readonly ContentsRow[]): string {
  const shared = sharedFolder(rows.map(({ name }) => name));
  // A column that is empty in every row says nothing and takes room.
  const columns = [...head.entries()].filter(([i]) => rows.some(({ cells }) => itemAt(cells, i) !== ''));
  const index =
    rows.length < 2
      ? ''
      : `<nav aria-label="contents"><table><thead><tr><th></th>${columns.map(([, { title, isNumber }]) => `<th scope="col"${kind(isNumber)}>${escaped(title)}</th>`).join('')}</tr></thead><tbody>
${rows.map(({ id, name, cells }) => `<tr><td><a href="#${id}">${escaped(name.slice(shared))}</a></td>${columns.map(([i, { isNumber }]) => `<td${kind(isNumber)}>${escaped(itemAt(cells, i))}</td>`).join('')}</tr>`).join('\n')}
</tbody></table></nav>`;
  return `</main>${index}
<footer>${KEYS.map(([key, what]) => `<kbd>${key}</kbd> ${what}`).join(' · ')}. The bar at a turn's left: <span>solid and blue is trained on, dashed is not known, grey is masked.</span></footer>
<script>${SCRIPT}</script></body></html>
`;
}

/** The length of the folder that all locators share: the articles name it, and a narrow table has no room for it. */
function sharedFolder(names: readonly string[]): number {
  const [first = '', ...others] = names;
  let end = first.length;
  for (const name of others) while (!name.startsWith(first.slice(0, end))) end--;
  return first.slice(0, end).lastIndexOf('/') + 1;
}

const kind = (isNumber: boolean): string => (isNumber ? ' class="n"' : '');

const KEYS = [
  ['/', 'search'],
  ['n N', 'next, previous hit'],
  ['l h', 'next, previous turn'],
  ['J K', 'next, previous rollout'],
  ['X', 'unfold, fold'],
  ['m', 'trained turns alone'],
  ['d', 'light, dark'],
] as const;
