import type { Data } from '../rows/data.ts';
import type { Action } from '../state/action.ts';
import type { Effect } from '../state/effect.ts';
import type { State } from '../state/state.ts';
import { copyHandlers } from './copy.ts';
import { displayHandlers } from './display.ts';
import { editorHandlers } from './editor.ts';
import { findHandlers } from './find.ts';
import { foldHandlers } from './fold.ts';
import { followAfter, liveHandlers } from './follow.ts';
import { groupHandlers } from './group.ts';
import { withJump } from './jumps.ts';
import { listHandlers } from './list.ts';
import { markHandlers } from './marks.ts';
import { menuHandlers } from './menu.ts';
import { moveHandlers } from './move.ts';
import { programHandlers } from './program.ts';
import { promptHandlers } from './prompt.ts';
import { replayHandlers } from './replay.ts';
import type { Handlers, Result } from './result.ts';
import { rolloutHandlers } from './rollout.ts';
import { searchHandlers } from './search.ts';

const HANDLERS: Handlers<Action> = {
  ...moveHandlers,
  ...rolloutHandlers,
  ...foldHandlers,
  ...listHandlers,
  ...groupHandlers,
  ...markHandlers,
  ...menuHandlers,
  ...displayHandlers,
  ...searchHandlers,
  ...copyHandlers,
  ...findHandlers,
  ...promptHandlers,
  ...replayHandlers,
  ...editorHandlers,
  ...liveHandlers,
  ...programHandlers,
};

/** Actions that no person asked for: they leave the message of the last key alone. */
const SILENT: readonly Action['type'][] = [
  'dump-changed',
  'rows-changed',
  'search-found',
  'resize',
  'say',
  'replay-where',
  'replay-known',
  'replay-backend',
  'editor-open',
  'editor-problem',
  'editor-close',
  'replay-edited',
  'fork-edited',
  'replay-rollout',
  'replay-words',
  'replay-busy',
  'replay-tick',
  'alarm',
  'find-progress',
];

/** The next state and what is to be done: nothing here reads a file, a clock or a terminal. */
export function update(state: State, action: Action, data: Data): { state: State; effects: Effect[] } {
  const isSilent = SILENT.includes(action.type);
  const before = isSilent ? state : afterKey(state, action);
  const handle = HANDLERS[action.type] as (state: State, action: Action, data: Data) => Result;
  const result = handle(before, action, data);
  const { state: after, effects } = 'effects' in result ? result : { state: result, effects: [] };
  const jumped = withJump(before, action, after);
  if (isSilent) return { state: jumped, effects };
  const followed = followAfter(action, before, jumped, data);
  return 'effects' in followed
    ? { state: followed.state, effects: [...effects, ...followed.effects] }
    : { state: followed, effects };
}

/** A key takes away what was said; an alarm stays until it can be seen, where nothing is asked at the foot. ^c twice means with no key between. */
function afterKey(state: State, { type }: Action): State {
  const isHidden = state.prompt !== null || state.replay.question !== null;
  const alarm = isHidden ? state.alarm : null;
  const cancelled = type === 'cancel' ? state.cancelled : Number.NEGATIVE_INFINITY;
  return state.message === null && state.alarm === alarm && state.cancelled === cancelled
    ? state
    : { ...state, message: null, alarm, cancelled };
}
