import type { Command } from './command.ts';
import { firstReason, noCalls, noExec, noRecord, noRollout, noTurns } from './reasons.ts';

/** Running again what was recorded. */
export const REPLAY_COMMANDS: readonly Command[] = [
  {
    id: 'replay',
    category: 'Run again',
    title: 'run the call of this turn again, edited or not; or all',
    action: () => ({ type: 'replay-ask', all: false }),
    disabled: firstReason(noExec, noRollout, noCalls),
  },
  {
    id: 'replay.all',
    category: 'Run again',
    title: 'run all tool calls of this rollout again',
    action: () => ({ type: 'replay-ask', all: true }),
    disabled: firstReason(noExec, noRollout, noCalls),
  },
  {
    id: 'fork',
    category: 'Run again',
    title: 'go on from this turn with a live model',
    action: () => ({ type: 'fork-ask' }),
    disabled: firstReason(noExec, noRollout, noTurns),
  },
  {
    id: 'branches',
    category: 'Run again',
    title: 'go to the branches',
    action: () => ({ type: 'branches' }),
    disabled: (state, data) => {
      const { cursor } = state.list;
      const replay = cursor === null ? undefined : state.replay.rollouts.get(cursor.file.locator(cursor.record));
      if ((replay?.branches.length ?? 0) > 0) return null;
      return noRecord(state, data) ?? `no branches yet; ${data.keys.label('fork')} makes one with a live model`;
    },
  },
  {
    id: 'rescore',
    category: 'Run again',
    title: 'score the rollout again',
    action: () => ({ type: 'rescore', all: false }),
    disabled: noRollout,
  },
  {
    id: 'rescore.all',
    category: 'Run again',
    title: 'score all of the list again',
    action: () => ({ type: 'rescore', all: true }),
    disabled: noRecord,
  },
];
