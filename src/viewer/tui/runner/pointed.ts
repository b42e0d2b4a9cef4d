import { realpathSync } from 'node:fs';
import { RE2JS } from 're2js';
import type { Dump, Place } from '../../../core/dump/dump.ts';
import { parseLocator } from '../../../core/dump/locator.ts';
import { itemAt } from '../../../core/lists/at.ts';
import { placeOfQuote } from '../../../core/text/quotes.ts';
import type { PointRequest } from '../../listen/place.ts';

/** A place that another program of this user wants shown. */
export interface PointedPlace {
  place: Place;
  turn: number | null;
  /** The pattern that finds the quotes; '' if none is in the text. */
  search: string;
  broken: string[];
}

/** @throws Error that says why it cannot be shown here */
export async function pointedAt(dump: Dump, { locator, turn, quotes }: PointRequest): Promise<PointedPlace> {
  const named = parseLocator(locator);
  const wanted = realpathSync(named.path);
  const file = dump.files.find(({ path }) => realPathOrNull(path) === wanted);
  if (file === undefined) throw new Error(`${named.path}: not in the dump on this screen`);
  if (file.state === 'waiting') await file.buildIndex(() => true);
  const record = file.recordAt(named);
  if (record === -1) throw new Error(`${locator}: no such rollout in this file`);
  const place = { file, record };
  const turns = dump.read(place).rollout?.turns ?? [];
  const at = turn ?? named.turn;
  if (at !== null && at >= turns.length) throw new Error(`${locator}: this rollout has ${turns.length} turns`);
  const texts = turns.filter(({ index }) => at === null || index === at);
  const found: string[] = [];
  const broken: string[] = [];
  let first: number | null = null;
  for (const quote of quotes) {
    const places = texts.flatMap(({ index, text }) => {
      const one = placeOfQuote(text, quote);
      return one === null ? [] : [{ index, words: text.slice(one.start, one.end) }];
    });
    // Twice in one text is null; once in each of two texts is also twice.
    if (
      places.length !== 1 ||
      texts.some(({ index, text }) => index !== itemAt(places, 0).index && text.includes(quote.trim()))
    )
      broken.push(quote);
    else {
      found.push(itemAt(places, 0).words);
      first ??= itemAt(places, 0).index;
    }
  }
  const search = [...new Set(found)].map((words) => `(?-i:${RE2JS.quote(words)})`).join('|');
  return { place, turn: at ?? first, search, broken };
}

function realPathOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
