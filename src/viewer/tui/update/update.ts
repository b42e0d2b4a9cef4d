import type { Data } from '../rows/data.ts';
import { Missing } from '../rows/missing.ts';
import { type Action, REPORTS } from '../state/action.ts';
import type { Effect } from '../state/effect.ts';
import type { State } from '../state/state.ts';
import { copyHandlers } from './copy.ts';
import { displayHandlers } from './display.ts';
import { editorHandlers } from './editor.ts';
import { findHandlers } from './find.ts';
import { foldHandlers } from './fold.ts';
import { followAfter, followHandlers } from './follow.ts';
import { groupHandlers } from './group.ts';
import { withJump } from './jumps.ts';
import { labelHandlers } from './label.ts';
import { listHandlers } from './list.ts';
import { markHandlers } from './marks.ts';
import { menuHandlers } from './menu.ts';
import { moveHandlers } from './move.ts';
import { asideAfter, pageHandlerOf, pageHandlers } from './page.ts';
import { programHandlers } from './program.ts';
import { promptHandlers } from './prompt.ts';
import { replayHandlers } from './replay.ts';
import { type Handlers, partsOf, type Result } from './result.ts';
import { rolloutHandlers } from './rollout.ts';
import { savedViewHandlers } from './saved-views.ts';
import { searchHandlers } from './search.ts';
import { setHandlers } from './sets.ts';
import { takeAwayHandlers } from './take-away.ts';

const HANDLERS: Handlers = {
  ...pageHandlers,
  ...moveHandlers,
  ...rolloutHandlers,
  ...foldHandlers,
  ...listHandlers,
  ...groupHandlers,
  ...markHandlers,
  ...menuHandlers,
  ...labelHandlers,
  ...setHandlers,
  ...displayHandlers,
  ...savedViewHandlers,
  ...searchHandlers,
  ...copyHandlers,
  ...takeAwayHandlers,
  ...findHandlers,
  ...promptHandlers,
  ...replayHandlers,
  ...editorHandlers,
  ...followHandlers,
  ...programHandlers,
};

interface Updated {
  state: State;
  effects: readonly Effect[];
}

/**
 * The next state and the work to do. Nothing here reads a file, a clock or a terminal, or starts anything, except that laying out a long
 * record is limited by the clock. If the data lacks what the action needs, the state is unchanged and the only effect is to load that and
 * retry.
 */
export function update(state: State, action: Action, data: Data): Updated {
  try {
    return updated(state, action, data);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    return { state, effects: [{ type: 'load', want: error.want, action }] };
  }
}

function updated(state: State, action: Action, data: Data): Updated {
  const isReport = action.type in REPORTS;
  const before = isReport ? state : afterKey(state, action);
  const { state: after, effects } = handled(before, action, data);
  const jumped = withJump(before, action, after);
  if (isReport) return { state: jumped, effects };

  const followed = partsOf(followAfter(action, before, asideAfter(before, jumped), data));
  return { state: followed.state, effects: [...effects, ...followed.effects] };
}

/** An action may lead to another, as the answer to a prompt or a menu does. */
function handled(state: State, action: Action, data: Data): Updated {
  const handle = (pageHandlerOf(state, action) ?? HANDLERS[action.type]) as (
    state: State,
    action: Action,
    data: Data,
  ) => Result;
  const { state: after, effects, next } = partsOf(handle(state, action, data));
  if (next === null) return { state: after, effects };

  const then = handled(after, next, data);
  return { state: then.state, effects: [...then.effects, ...effects] };
}

/**
 * A key clears the last message; an alarm stays until it was visible, i.e. while no question was open. ^c twice means without another key
 * in between.
 */
function afterKey(state: State, { type }: Action): State {
  const isHidden = state.prompt !== null || state.replay.question !== null;
  const alarm = isHidden ? state.alarm : null;
  const cancelled = type === 'cancel' ? state.cancelled : Number.NEGATIVE_INFINITY;
  return state.message === null && state.alarm === alarm && state.cancelled === cancelled
    ? state
    : { ...state, message: null, alarm, cancelled };
}
