import { RE2JS } from 're2js';
import type { Block, Range } from '../../present/transcript/block.ts';

export interface Hit {
  block: string;
  start: number;
  end: number;
}

/** More are not counted: a pattern that matches everywhere finds nothing in particular. */
export const MAX_HITS = 20_000;
/** Before what is typed, for text that is no pattern. */
export const LITERAL = '\\V';

const META = /[\\^$.|?*+()[\]{}]/;

export type Finder = (text: string, found: (start: number, end: number) => boolean) => void;

/**
 * What a search looks for. Smart case: a capital letter in it makes case count. Patterns run on RE2, in linear time:
 * none hangs the screen.
 * @throws Error for a pattern that RE2 does not take
 */
export function finder(value: string): Finder {
  const isLiteral = value.startsWith(LITERAL);
  const text = isLiteral ? value.slice(LITERAL.length) : value;
  const exact = /\p{Lu}/u.test(isLiteral ? text : text.replace(/\\./g, ''));
  if (text === '') return () => {};
  if ((isLiteral || !META.test(text)) && (exact || /^[\x20-\x7e]*$/.test(text))) return literal(text, exact);
  const pattern = RE2JS.compile(
    isLiteral ? RE2JS.quote(text) : text,
    RE2JS.MULTILINE | (exact ? 0 : RE2JS.CASE_INSENSITIVE),
  );
  return (body, found) => {
    const matcher = pattern.matcher(body);
    while (matcher.find()) {
      // An empty match shows nothing.
      if (matcher.end() > matcher.start() && !found(matcher.start(), matcher.end())) return;
    }
  };
}

function literal(text: string, exact: boolean): Finder {
  const wanted = exact ? text : text.toLowerCase();
  return (body, found) => {
    const lower = exact ? body : body.toLowerCase();
    // A few letters change their length in lower case (İ): offsets would be wrong, so ASCII alone is lowered there.
    const where = lower.length === body.length ? lower : body.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    for (let at = where.indexOf(wanted); at >= 0; at = where.indexOf(wanted, at + wanted.length)) {
      if (!found(at, at + wanted.length)) return;
    }
  };
}

/**
 * Whether a record's raw text may hold what is searched for, without a parse. Only plain words can be looked for there: JSON
 * escapes much else, and a pattern may match across what it escapes. Words that the screen adds (score, think) are not the record's.
 */
export function rawFilter(value: string): (raw: string) => boolean {
  const text = value.startsWith(LITERAL) ? value.slice(LITERAL.length) : value;
  if (!/^[A-Za-z0-9_ ]+$/.test(text)) return () => true;
  const find = finder(value);
  return (raw) => {
    let holds = false;
    find(raw, () => {
      holds = true;
      return false;
    });
    return holds;
  };
}

/** Where it is found, from top to bottom. */
export function hitsIn(blocks: readonly Block[], find: Finder): Hit[] {
  const hits: Hit[] = [];
  for (const { id, text } of blocks) {
    find(text, (start, end) => hits.push({ block: id, start, end }) < MAX_HITS);
    if (hits.length >= MAX_HITS) break;
  }
  return hits;
}

/** Hits as ranges of their blocks, the one that the cursor is on told apart. */
export function hitRanges(hits: readonly Hit[], current: number): Map<string, Range[]> {
  const byBlock = new Map<string, Range[]>();
  hits.forEach(({ block, start, end }, i) => {
    const range: Range = { start, end, style: i === current ? 'current' : 'match' };
    const known = byBlock.get(block);
    if (known === undefined) byBlock.set(block, [range]);
    else known.push(range);
  });
  return byBlock;
}
