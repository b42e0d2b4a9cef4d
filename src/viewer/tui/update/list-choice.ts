import type { Data } from '../rows/data.ts';
import type { ListChoice } from '../state/list.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import { key } from './result.ts';

/** Choices that `u` can undo. */
const MAX_PAST = 200;

/** Applies another choice; the previous one can be restored. */
export function choose(state: State, change: Partial<ListChoice>): State {
  const { choice, past } = state.list;
  const list = {
    ...state.list,
    choice: { ...choice, ...change },
    past: [...past.slice(1 - MAX_PAST), choice],
    future: [],
  };
  return { ...state, list };
}

/** The list in another order, or with other records: the cursor stays on its record as long as that exists. */
export const arranged = (state: State, change: Partial<ListChoice>, data: Data): State =>
  keepCursor(choose({ ...state, list: { ...state.list, group: null } }, change), data);

/** Why nothing can be done with the whole list yet; null once it is complete. */
export const notWhole = (state: State, data: Data): string | null =>
  data.filterProgress(state)?.isWhole === false
    ? `the list is still being made: wait for it, or ${key(state, data, 'back')} for the one before`
    : null;

/**
 * The cursor is on a record, not on a row. If that is filtered out, the cursor goes to the nearest remaining one, and returns once it is
 * listed again, unless it was moved meanwhile.
 */
export function keepCursor(state: State, data: Data): State {
  const rows = data.rows(state);
  const { cursor, home, pinned, visit } = state.list;
  const { transcript } = state;
  // A reader who has moved is left in place.
  const isUntouched = transcript.top === null && transcript.turn === null;
  if (pinned !== null && isUntouched && (pinned === 'top' || samePlace(pinned, cursor))) {
    const progress = data.filterProgress(state);
    const first = (progress?.isWhole ?? true) ? rows.at(0) : null;
    if (first === null) return state;
    // Records that were indexed since the list was whole may come before its first.
    const isGrowing = progress !== null && (progress.isBusy || progress.looked < progress.total);
    const stays = isGrowing || data.dump.progress().phase === 'index' ? first : null;
    if (samePlace(first, cursor))
      return stays === pinned ? state : { ...state, list: { ...state.list, pinned: stays } };
    return { ...state, list: { ...state.list, cursor: first, offset: 0, pinned: stays }, transcript: opened };
  }
  if (cursor === null || samePlace(cursor, visit)) return state;
  if (home !== null && samePlace(cursor, home.stand) && rows.indexOf(home.place) >= 0) {
    return { ...state, list: { ...state.list, cursor: home.place, home: null }, transcript: home.transcript };
  }
  if (rows.indexOf(cursor) >= 0) return state;
  const stand = data.nearest(state, cursor);
  if (stand === null) return state;
  const from = home !== null && samePlace(cursor, home.stand) ? home : { place: cursor, transcript: state.transcript };
  return { ...state, list: { ...state.list, cursor: stand, home: { ...from, stand } }, transcript: opened };
}
