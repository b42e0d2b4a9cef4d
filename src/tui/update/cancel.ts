import type { World } from '../rows/data.ts';
import type { State } from '../state/state.ts';
import { listHandlers } from './list.ts';
import { type Result, say } from './result.ts';

/** Ends a filter, a sort or a search over many records that is under way; null where there is none. */
export function cancelLooking(state: State, world: World): Result | null {
  if (state.seek !== null)
    return { state: say({ ...state, seek: null }, 'cancelled'), effects: [{ type: 'seek', job: null }] };
  if (world.arranging(state)?.isWhole !== false) return null;
  return listHandlers['arrange-cancel'](state, { type: 'arrange-cancel' }, world);
}
