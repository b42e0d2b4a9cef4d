import type { Rollout } from '../../../core/rollout/rollout.ts';
import type { Data } from '../rows/data.ts';
import { viewport } from '../rows/viewport.ts';
import { worldCalls } from '../rows/world-calls.ts';
import { pageInSight } from '../state/panes.ts';
import type { State } from '../state/state.ts';

/** Why a command is unavailable now; null if it is available. */
export type Reason = (state: State, data: Data) => string | null;

const rolloutOf = (state: State, data: Data) =>
  state.list.cursor === null ? null : data.record(state.list.cursor).rollout;

export const noRecord: Reason = (state) => (state.list.cursor === null ? 'no rollout is open' : null);

/** The row of a page decides what it opens. */
export const nothingToOpen: Reason = (state, data) => (pageInSight(state) === null ? noRecord(state, data) : null);

export const noPage: Reason = ({ page }) => (page === null ? 'no page is open' : null);

export const noRollout: Reason = (state, data) =>
  noRecord(state, data) ?? (rolloutOf(state, data) === null ? 'this line is not a rollout' : null);

export const noTurns: Reason = (state, data) => {
  const view = viewport(state, data);
  return view === null ? 'the transcript is not in sight' : view.turn === null ? 'no turns here' : null;
};

export const noTokens: Reason = (state, data) => {
  const { rollout } = state.list.cursor === null ? { rollout: null } : data.record(state.list.cursor);
  return rollout === null
    ? noRecord(state, data)
    : rollout.tokens === undefined
      ? 'no token ids were recorded here'
      : null;
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
  // Calls that only a text asks for come last: to find them takes a while.
  const has = rollout === null || rollout.turns.some(({ toolCalls }) => toolCalls.length > 0);
  return has || worldCalls(rollout).length > 0 ? null : 'no tool call in this rollout';
};

const answersCall = ({ turns }: Pick<Rollout, 'turns'>, turn: number): boolean =>
  turns.some(({ toolCalls }) => toolCalls.some(({ resultTurn }) => resultTurn === turn));

/** The turn under the cursor neither makes a call nor answers one. */
export const noCallHere: Reason = (state, data) => {
  const rollout = rolloutOf(state, data);
  const turn = viewport(state, data)?.turn ?? null;
  if (rollout === null || turn === null) return noTurns(state, data);
  const has = rollout.turns[turn]?.toolCalls.length || answersCall(rollout, turn);
  return has ? null : 'no tool call in this turn';
};

export const noSearch: Reason = (state, data) =>
  state.search === null ? `no search yet; ${data.keys.label('search')} starts one` : null;

export const noSort: Reason = ({ list }, { keys }) =>
  list.choice.sort === null ? `nothing is sorted; ${keys.label('sort')} sorts` : null;

/** Only marks that have a letter. */
export const noMarks: Reason = ({ list }, { keys }) =>
  [...list.choice.marks.keys()].every((name) => name.startsWith(' '))
    ? `no marks yet; ${keys.label('mark')} and a letter sets one`
    : null;

export const notMarked: Reason = ({ list }, { keys }) =>
  list.choice.marks.size === 0 ? `nothing is marked; ${keys.label('mark')} and a letter marks` : null;

export const nothingToUndo: Reason = ({ list }) => (list.past.length === 0 ? 'nothing to undo' : null);

export const nothingToRedo: Reason = ({ list }) => (list.future.length === 0 ? 'nothing to do again' : null);

export const nothingRun: Reason = ({ replay }, { keys }) =>
  replay.rollouts.size === 0 && replay.words.size === 0
    ? `nothing was run again yet; ${keys.label('replay')} does`
    : null;

export const noBranches: Reason = (state, data) => {
  const { cursor } = state.list;
  const replay = cursor === null ? undefined : state.replay.rollouts.get(cursor.file.locator(cursor.record));
  if ((replay?.branches.length ?? 0) > 0) return null;
  return noRecord(state, data) ?? `no branches yet; ${data.keys.label('fork')} makes one with a live model`;
};

export const noOlderPlace: Reason = ({ jumps }) =>
  jumps.list.length === 0 || jumps.at === 0 ? 'no older place' : null;

export const noNewerPlace: Reason = ({ jumps }) => (jumps.at >= jumps.list.length - 1 ? 'no newer place' : null);

export const linesWrapped: Reason = ({ display }, { keys }) =>
  display.wrap ? `lines are wrapped; ${keys.label('wrap')} ends that` : null;

export const noField: Reason = ({ display }, { keys }) =>
  display.view === 'fields' ? null : `fields are hidden in the view of fields; ${keys.label('view.next')} goes there`;

export const noHidden: Reason = ({ display }) => (display.hidden.length === 0 ? 'no field is hidden' : null);

export const noFold: Reason = ({ display }) =>
  display.view === 'chat' || display.view === 'json' ? null : 'nothing to fold in this view';

/** The first of several reasons that applies. */
export const firstReason =
  (...reasons: readonly Reason[]): Reason =>
  (state, data) => {
    for (const reason of reasons) {
      const found = reason(state, data);
      if (found !== null) return found;
    }
    return null;
  };
