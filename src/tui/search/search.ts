import type { Place } from '../../dump/dump.ts';
import type { Block } from '../../present/transcript/block.ts';
import { samePlace } from '../rows.ts';
import { ALL_OPEN, shownBlocks } from '../shown-blocks.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';
import { finder, type Hit, hitRanges, hitsIn } from './pattern.ts';

/** What is searched for, and where the search stands. */
export interface SearchState {
  value: string;
  /** The number of the hit that the cursor is on, -1 for none. */
  at: number;
  /** The way in which n or N found no more: pressed again it goes on in the next sample. */
  edge: 1 | -1 | null;
}

export type SearchAction = { type: 'search-next'; by: number } | { type: 'search-word'; by: number };

interface Found {
  place: Place;
  text: string;
  value: string;
  view: State['display'];
  hits: Hit[];
  painted: { at: number; ranges: ReturnType<typeof hitRanges> } | null;
}

// One search is on the screen at a time; it follows from its key, and is only remembered here.
let last: Found | null = null;

const NOTHING = { group: '', advantage: null };

function found(state: State, world: World, place: Place, value: string): Found | null {
  const record = world.record(place);
  const known = last;
  if (
    known !== null &&
    known.value === value &&
    known.view === state.display &&
    samePlace(known.place, place) &&
    known.text === record.raw
  ) {
    return known;
  }
  let hits: Hit[];
  try {
    const blocks: Block[] = shownBlocks(record, state.display, ALL_OPEN, NOTHING);
    hits = hitsIn(blocks, finder(value));
  } catch {
    return null;
  }
  last = { place, text: record.raw, value, view: state.display, hits, painted: null };
  return last;
}

/** Hits in the record of a place, what is folded away included. */
export function hitsOf(state: State, world: World, place: Place, value: string): readonly Hit[] {
  return found(state, world, place, value)?.hits ?? [];
}

/** What to highlight. */
export function highlights(state: State, world: World): ReturnType<typeof hitRanges> | null {
  const { search } = state;
  if (search === null || state.list.cursor === null) return null;
  const result = found(state, world, state.list.cursor, search.value);
  if (result === null) return null;
  if (result.painted?.at !== search.at) result.painted = { at: search.at, ranges: hitRanges(result.hits, search.at) };
  return result.painted.ranges;
}

/** `3/17`; null while nothing is searched for. */
export function searchPosition(state: State, world: World): string | null {
  const { search } = state;
  if (search === null || state.list.cursor === null) return null;
  const hits = hitsOf(state, world, state.list.cursor, search.value);
  return hits.length === 0 ? 'no hit' : `${search.at < 0 ? '–' : search.at + 1}/${hits.length}`;
}
