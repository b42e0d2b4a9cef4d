import type { HelpAction, ProgramAction } from '../actions.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';
import { followOn } from './follow.ts';
import { type Handlers, say } from './result.ts';

export const programHandlers: Handlers<ProgramAction> = {
  quit: (state) => (state.help === null ? { state, effects: [{ type: 'quit' }] } : { ...state, help: null }),
  suspend: (state) => ({ state, effects: [{ type: 'suspend' }] }),
  reload: (state) => ({ state: say(state, 'read again from disk'), effects: [{ type: 'reload' }] }),
  repaint: (state) => ({ state, effects: [{ type: 'repaint' }] }),
  resize: (state, { columns, rows }) => ({ ...state, columns, rows }),
  'dump-changed': (state, _action, world) => followOn(state.list.cursor === null ? open(state, world) : state, world),
  say: (state, { text, kind }) => say(state, text, kind),
};

export const helpHandlers: Handlers<HelpAction> = {
  help: (state) => ({ ...state, help: state.help === null ? { filter: '', cursor: 0 } : null }),
};

/** The first records are known: the cursor goes to the newest train step, a third down the list. */
function open(state: State, world: World): State {
  const newest = world.dump.newest();
  if (newest === undefined) return state;
  // A newest step that turns out to hold nothing must not keep the others from being seen.
  const isEmpty = newest.count === 0 && (newest.state === 'ready' || newest.state === 'failed');
  const file = isEmpty ? world.dump.files.findLast((other) => other.count > 0) : newest;
  if (file === undefined || file.count === 0) return state;
  return { ...state, list: { cursor: { file, record: 0 }, offset: Math.floor(world.geometry(state).listHeight / 3) } };
}
