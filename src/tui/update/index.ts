import type { Action } from '../actions.ts';
import type { Effect } from '../effects.ts';
import { withJump } from '../find/jumps.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';
import { displayHandlers } from './display.ts';
import { findHandlers } from './find.ts';
import { foldHandlers } from './fold.ts';
import { groupHandlers } from './group.ts';
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
import { takeHandlers } from './take.ts';

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
  ...takeHandlers,
  ...findHandlers,
  ...promptHandlers,
  ...replayHandlers,
  ...programHandlers,
};

/** Actions that no person asked for: they leave the message of the last key alone. */
const SILENT: readonly Action['type'][] = [
  'dump-changed',
  'search-found',
  'rows-changed',
  'resize',
  'say',
  'replay-where',
  'replay-edited',
  'fork-edited',
  'replay-rollout',
  'replay-words',
  'replay-busy',
  'replay-tick',
  'seeking',
];

/** The next state and what is to be done: nothing here reads a file, a clock or a terminal. */
export function update(state: State, action: Action, world: World): { state: State; effects: Effect[] } {
  const before = SILENT.includes(action.type) || state.message === null ? state : { ...state, message: null };
  const handle = HANDLERS[action.type] as (state: State, action: Action, world: World) => Result;
  const result = handle(before, action, world);
  const { state: after, effects } = 'effects' in result ? result : { state: result, effects: [] };
  return { state: withJump(before, action, after), effects };
}
