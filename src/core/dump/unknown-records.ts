import { suggestedMap } from '../formats/suggested-map.ts';
import { printJson } from '../json/print.ts';
import type { JsonObject } from '../json/value.ts';
import { shellWord } from '../text/shell-quote.ts';

/** Records of a file that no format knows. */
export interface UnknownRecords {
  count: number;
  first: JsonObject;
  /** Only so many of the file's records were counted. */
  counted?: number;
}

/** More keys say nothing more. */
const KEYS = 12;

/** `12 records of no known form; keys of the first: a, b; --map turns=a may read them` */
export function unknownText({ count, first, counted }: UnknownRecords): string {
  const keys = Object.keys(first);
  const shown = keys.slice(0, KEYS).join(', ') + (keys.length > KEYS ? ', …' : '');
  const map = suggestedMap(first);
  const advice =
    map === null
      ? 'nothing in it looks like a conversation'
      : `--map ${shellWord(map)} may read ${count === 1 ? 'it' : 'them'}`;
  const among = counted === undefined ? '' : ` among the first ${counted}`;
  return `${count} ${count === 1 ? 'record' : 'records'}${among} of no known form; keys of the first: ${shown}; ${advice}`;
}

/** Settings and summaries are shorter, in UTF-16 units. */
const LONG = 50_000;

/** A single object beside a dump is a setting or a summary, unless it is long or looks like a conversation. */
export const isWorthSaying = ({ count, first }: UnknownRecords): boolean =>
  count > 1 || suggestedMap(first) !== null || printJson(first).length > LONG;
