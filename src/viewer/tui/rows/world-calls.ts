import type { RecordedAction } from '../../../analysis/actions/action.ts';
import { recordedActions } from '../../../analysis/actions/recorded-actions.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';

const known = new WeakMap<Rollout, readonly RecordedAction[]>();

/** The calls of a rollout's world, which may lie in its text; empty if none is one of a container. */
export function worldCalls(rollout: Rollout): readonly RecordedAction[] {
  const before = known.get(rollout);
  if (before !== undefined) return before;
  const actions = recordedActions(rollout);
  const calls = actions.some(({ action }) => action.kind !== 'none') ? actions : [];
  known.set(rollout, calls);
  return calls;
}

/** The call that this turn makes or answers, else the last one before it, else the first one. */
export const nearestWorldCall = (rollout: Rollout, turn: number): RecordedAction | undefined => {
  const calls = worldCalls(rollout);
  return (
    calls.find((one) => one.turn === turn || one.resultTurn === turn) ??
    calls.findLast((one) => one.turn < turn) ??
    calls[0]
  );
};
