import type { Place } from '../../../core/dump/dump.ts';
import type { SetEntry } from '../../../replay/sets/curated-set.ts';

/** A rollout of a set, and whether the open dump still holds what was chosen; elsewhere: it is of another dump. */
export interface SetMember {
  entry: SetEntry;
  place: Place | null;
  now: 'same' | 'changed' | 'gone' | 'elsewhere';
}

/** The sets of this user, or of a shared journal, as they were when a page of them was opened. */
export interface SetsState {
  /** By name; null before they were read. */
  known: ReadonlyMap<string, readonly SetMember[]> | null;
  /** The set that was added to last. */
  last: string | null;
}

export const noSets: SetsState = { known: null, last: null };
