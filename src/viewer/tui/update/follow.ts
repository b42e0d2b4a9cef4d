import type { DumpFile } from '../../../core/dump/dump-file.ts';
import type { Data } from '../rows/data.ts';
import { type Action, MOVES } from '../state/action.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { putCursor } from './cursor.ts';
import { key, partsOf, type Result, type SomeHandlers, saying } from './result.ts';

export const followHandlers = {
  follow: (state, _action, data) => {
    if (state.follow.mode === 'on') return saying({ ...state, follow: { mode: 'off', at: null } }, 'follow ended');
    const { state: next, effects } = partsOf(followOn({ ...state, follow: { mode: 'on', at: null } }, data));
    const isWaiting = next.follow.at === null;
    return {
      state: saying(next, isWaiting ? 'following: waits for a complete step' : 'following the newest step'),
      effects,
    };
  },

  alarm: (state, { text }) => ({
    state: { ...state, alarm: { text, before: state.alarm === null ? 0 : state.alarm.before + 1 } },
    effects: [{ type: 'bell' }],
  }),
} satisfies SomeHandlers;

/** Goes to the newest complete step if it changed, on its first row in the list as sorted and filtered. */
export function followOn(state: State, data: Data): Result {
  const { mode, at } = state.follow;
  if (mode !== 'on') return state;
  const file = data.live.newest(state.list.cursor?.file.stream ?? null, data.now);
  if (file === null || (at?.file === file && at.generation === file.generation)) return state;
  // The first row of a list in progress may not stay the first.
  const filterProgress = data.filterProgress(state);
  if (filterProgress !== null && (!filterProgress.isWhole || filterProgress.looked < filterProgress.total))
    return state;
  const index = firstRow(state, data, file);
  // Nothing in it passes the filter, or the filter has not reached it: check again on the next change.
  if (index < 0) return state;
  const moved = putCursor(state, data, index);
  return {
    state: { ...moved, follow: { mode, at: { file, generation: file.generation } } },
    effects: [{ type: 'reopen' }],
  };
}

function firstRow(state: State, data: Data, file: DumpFile): number {
  const rows = data.rows(state);
  let first = -1;
  for (let record = 0; record < file.count; record++) {
    const index = rows.indexOf({ file, record });
    if (index >= 0 && (first < 0 || index < first)) first = index;
  }
  return first;
}

/**
 * A reader who moves wants to stay there, so following pauses until it is requested again. Changing filter or sort is not a movement: it
 * only changes the first row.
 */
export function followAfter(action: Action, before: State, after: State, data: Data): Result {
  if (before.follow.mode !== 'on' || after.follow.mode !== 'on' || action.type === 'follow') return after;
  const [was, is] = [before.list.choice, after.list.choice];
  if (was.filter !== is.filter || was.sort !== is.sort)
    return followOn({ ...after, follow: { ...after.follow, at: null } }, data);
  const isMove =
    (action.type in MOVES && after.help === null) ||
    !samePlace(before.list.cursor, after.list.cursor) ||
    before.transcript !== after.transcript;
  if (!isMove) return after;
  const paused: State = { ...after, follow: { ...after.follow, mode: 'paused' } };
  return paused.message === null ? saying(paused, `follow paused, ${key(paused, data, 'follow')} resumes`) : paused;
}
