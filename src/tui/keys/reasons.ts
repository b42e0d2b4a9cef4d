import { toolCallsOf } from '../../rollout/rollout.ts';
import type { Data } from '../rows/data.ts';
import { viewport } from '../rows/viewport.ts';
import type { State } from '../state/state.ts';

/** Why a command cannot act now; null when it can. */
export type Reason = (state: State, data: Data) => string | null;

const rolloutOf = (state: State, data: Data) =>
  state.list.cursor === null ? null : data.record(state.list.cursor).rollout;

export const noRecord: Reason = (state) => (state.list.cursor === null ? 'no rollout is open' : null);

export const noRollout: Reason = (state, data) =>
  noRecord(state, data) ?? (rolloutOf(state, data) === null ? 'this line is no rollout' : null);

export const noTurns: Reason = (state, data) => {
  const view = viewport(state, data);
  return view === null ? 'the transcript is not in sight' : view.turn === null ? 'no turns here' : null;
};

export const noOtherRow: Reason = (state, data) =>
  data.rows(state).length < 2 ? 'the list has no other rollout' : null;

export const noOtherStep: Reason = (state, data) => {
  const stream = state.list.cursor?.file.stream;
  const steps = data.dump.files.filter((file) => file.stream === stream && file.count > 0);
  return steps.length < 2 ? 'there is no other step' : null;
};

export const noExec: Reason = (state) => (state.replay.canRun ? null : 'nothing is run: opened with --no-exec');

export const noCalls: Reason = (state, data) => {
  const rollout = rolloutOf(state, data);
  return rollout !== null && toolCallsOf(rollout).length === 0 ? 'no tool call in this rollout' : null;
};

/** The turn of the cursor neither makes a call nor answers one. */
export const noCallHere: Reason = (state, data) => {
  const rollout = rolloutOf(state, data);
  const turn = viewport(state, data)?.turn ?? null;
  if (rollout === null || turn === null) return noTurns(state, data);
  const has = rollout.turns[turn]?.toolCalls.length || toolCallsOf(rollout).some((call) => call.resultTurn === turn);
  return has ? null : 'no tool call in this turn';
};

export const noSearch: Reason = (state, data) =>
  state.search === null ? `nothing is searched for; ${data.keys.label('search')} begins` : null;

export const noSort: Reason = ({ list }, { keys }) =>
  list.choice.sort === null ? `nothing is sorted; ${keys.label('sort')} sorts` : null;

/** Marks that a letter goes to. */
export const noMarks: Reason = ({ list }, { keys }) =>
  [...list.choice.marks.keys()].every((name) => name.startsWith(' '))
    ? `no marks yet; ${keys.label('mark')} and a letter sets one`
    : null;

export const notMarked: Reason = ({ list }, { keys }) =>
  list.choice.marks.size === 0 ? `nothing is marked; ${keys.label('mark')} and a letter marks` : null;

export const nothingToUndo: Reason = ({ list }) => (list.past.length === 0 ? 'nothing to undo' : null);

export const nothingToRedo: Reason = ({ list }) => (list.future.length === 0 ? 'nothing to do again' : null);

/** The first of several that holds. */
export const firstReason =
  (...reasons: readonly Reason[]): Reason =>
  (state, data) => {
    for (const reason of reasons) {
      const found = reason(state, data);
      if (found !== null) return found;
    }
    return null;
  };
