import type { Hit } from '../../../analysis/text-search.ts';
import type { Place } from '../../../core/dump/dump.ts';
import { formatCount, formatPercent } from '../../../core/text/numbers.ts';
import type { Range } from '../../present/transcript/block.ts';
import { samePlace } from '../state/rows.ts';
import type { SearchState } from '../state/search.ts';
import type { State } from '../state/state.ts';
import type { Data } from './data.ts';
import type { Scan } from './scan.ts';

/** A search positioned in what is open. */
export const searchAt = (
  { list, display }: State,
  value: string,
  at: number,
  edge: SearchState['edge'] = null,
): SearchState => ({ value, at, edge, place: list.cursor, view: display.view });

/** Whether the search belongs to what is open, not to another sample or view. */
export const standsHere = ({ search, list, display }: State): boolean =>
  search !== null && samePlace(search.place, list.cursor) && search.view === display.view;

/** The current hit in the open record; none if the search was made in another one. */
export const standing = (state: State): Pick<SearchState, 'at' | 'edge'> =>
  state.search !== null && standsHere(state) ? state.search : { at: -1, edge: null };

/** The search in a place's record, including folded text; it may still be running. */
export const scanOf = (state: State, data: Data, place: Place, value: string): Scan | null =>
  data.searches.of(data.record(place), state.display, value);

let painted: { scan: Scan; at: number; count: number; ranges: Map<string, Range[]> } | null = null;

/** The ranges to highlight. */
export function highlights(state: State, data: Data): ReadonlyMap<string, Range[]> | null {
  const { search } = state;
  if (search === null || state.list.cursor === null) return null;
  const scan = scanOf(state, data, state.list.cursor, search.value);
  if (scan === null) return null;
  const count = scan.hits.length;
  // Built once per change of hit, not once per frame.
  const { at } = standing(state);
  if (painted === null || painted.scan !== scan || painted.at !== at || painted.count !== count)
    painted = { scan, at, count, ranges: hitRanges(scan.hits, at) };
  return painted.ranges;
}

export const NO_HIT = 'no hit';

/** `3/17`, `3/17, searching 40 %`; null without a search. */
export function searchPosition(state: State, data: Data): string | null {
  const { search } = state;
  if (search === null || state.list.cursor === null) return null;
  const scan = scanOf(state, data, state.list.cursor, search.value);
  const count = scan?.hits.length ?? 0;
  const going = scan === null || scan.isDone ? '' : `searching ${formatPercent(scan.share)}`;
  if (count === 0) return going || NO_HIT;
  const { at } = standing(state);
  const position = `${at < 0 ? '–' : formatCount(at + 1)}/${formatCount(count)}${scan?.isFull ? '+' : ''}`;
  return going === '' ? position : `${position}, ${going}`;
}

/** Hits as ranges of their blocks, with the one under the cursor marked. */
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
