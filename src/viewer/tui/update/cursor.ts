import type { Place } from '../../../core/dump/dump.ts';
import type { Data } from '../rows/data.ts';
import { listWindow } from '../rows/list-window.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import { type Result, saying } from './result.ts';

/**
 * Puts the cursor on a row of the list; a different record opens at the start of its response. The cursor of a list in progress is then no
 * longer at its top.
 */
export function putCursor(state: State, data: Data, index: number): State {
  const rows = data.rows(state);
  if (rows.length === 0) return state;
  const { height, top, here } = listWindow(state, data);
  const at = Math.max(0, Math.min(rows.length - 1, index));
  const offset = Math.max(0, Math.min(here < 0 ? state.list.offset : at - top, height - 1));
  if (at === here) return { ...state, list: { ...state.list, offset } };
  return { ...state, list: { ...state.list, cursor: rows.at(at), offset, pinned: null }, transcript: opened };
}

/** Puts the cursor on a record; one that the list leaves out is opened too. */
export function visit(state: State, data: Data, place: Place): State {
  const index = data.rows(state).indexOf(place);
  if (index >= 0) return putCursor(state, data, index);
  const { group } = state.list;
  // A place outside the group leaves it.
  if (group !== null) return visit({ ...state, list: { ...state.list, group: null } }, data, place);
  return { ...state, list: { ...state.list, cursor: place, visit: place, pinned: null }, transcript: opened };
}

/** Moves `by` rows in list order. At an end, `clamp` stops there, and `say` reports it. */
export function moveCursor(state: State, data: Data, by: number, end: 'clamp' | 'say'): Result {
  const rows = data.rows(state);
  const { cursor } = state.list;
  const before = cursor === null ? -1 : rows.indexOf(cursor);
  // From a rollout that is not in the list, go to the one next to it.
  if (before < 0) return putCursor(state, data, cursor === null ? 0 : rows.near(cursor));
  const wanted = before + by;
  const next = putCursor(state, data, wanted);
  if (end === 'say' && (wanted < 0 || wanted >= rows.length)) {
    return saying(next, wanted < 0 ? 'the first sample of the list' : 'the last sample of the list');
  }
  return next;
}
