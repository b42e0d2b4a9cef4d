import type { Place } from '../../dump/dump.ts';
import { formatCount, formatPercent } from '../../present/numbers.ts';
import type { Range } from '../../present/transcript/block.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';
import { hitRanges } from './pattern.ts';
import type { Scan } from './scan.ts';

/** What is searched for, and where the search stands. */
export interface SearchState {
  value: string;
  /** The number of the hit that the cursor is on, -1 for none. */
  at: number;
  /** The way in which n or N found no more: pressed again it goes on in the next sample. */
  edge: 1 | -1 | null;
}

export type SearchAction =
  | { type: 'search-next'; by: number }
  | { type: 'search-word'; by: number }
  /** A long search has come further. */
  | { type: 'search-found' };

/** The search in the record of a place, what is folded away included; it may still be going on. */
export const scanOf = (state: State, world: World, place: Place, value: string): Scan | null =>
  world.searches.of(world.record(place), state.display, value);

let painted: { scan: Scan; at: number; count: number; ranges: Map<string, Range[]> } | null = null;

/** What to highlight. */
export function highlights(state: State, world: World): ReadonlyMap<string, Range[]> | null {
  const { search } = state;
  if (search === null || state.list.cursor === null) return null;
  const scan = scanOf(state, world, state.list.cursor, search.value);
  if (scan === null) return null;
  const count = scan.hits.length;
  // Built once a hit is gone to, not once a frame.
  if (painted === null || painted.scan !== scan || painted.at !== search.at || painted.count !== count)
    painted = { scan, at: search.at, count, ranges: hitRanges(scan.hits, search.at) };
  return painted.ranges;
}

export const NO_HIT = 'no hit';

/** `3/17`, `3/17, searching 40 %`; null while nothing is searched for. */
export function searchPosition(state: State, world: World): string | null {
  const { search } = state;
  if (search === null || state.list.cursor === null) return null;
  const scan = scanOf(state, world, state.list.cursor, search.value);
  const count = scan?.hits.length ?? 0;
  const going = scan === null || scan.isDone ? '' : `searching ${formatPercent(scan.share)}`;
  if (count === 0) return going || NO_HIT;
  const position = `${search.at < 0 ? '–' : formatCount(search.at + 1)}/${formatCount(count)}${scan?.isFull ? '+' : ''}`;
  return going === '' ? position : `${position}, ${going}`;
}
