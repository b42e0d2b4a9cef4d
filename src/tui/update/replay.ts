import type { Rollout, ToolCall } from '../../rollout/rollout.ts';
import type { ReplayAction, ReplayJob } from '../replay/actions.ts';
import type { CallQuestion, ForkQuestion, Question, ReplayState } from '../replay/state.ts';
import { groupRows, samePlace } from '../rows.ts';
import { goToTurn, viewport } from '../scroll.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';
import { promptHandlers } from './prompt.ts';
import { type Handlers, key as keyOf, type Result, say } from './result.ts';

/** Runs of a call that `k` goes through: one run tells no flaky call from a drifted one. */
const REPEATS = [1, 3, 10];

const withReplay = (state: State, replay: Partial<ReplayState>): State => ({
  ...state,
  replay: { ...state.replay, ...replay },
});

const ask = (state: State, question: Question | null): State => withReplay(state, { question });

const doing = (state: State, job: ReplayJob): Result => ({ state, effects: [{ type: 'replay', job }] });

/** Closes the question and does what it was about. */
const doNow = (state: State, job: ReplayJob): Result => doing(ask(inChat(state), null), job);

/** The branches at the top, as far as the text reaches: those that are still to come too. */
function atBranches(before: State, world: World): State {
  const state = inChat(before);
  const rollout = state.list.cursor === null ? null : world.record(state.list.cursor).rollout;
  const turn = rollout?.turns.at(-1)?.index ?? 0;
  const top = { block: `t${turn}.branches`, offset: 0 };
  return { ...state, focus: 'transcript', transcript: { ...state.transcript, top, turn } };
}

/** What comes of it stands beside the conversation, not in the raw views. */
const inChat = (state: State): State =>
  state.display.view === 'chat' ? state : { ...state, display: { ...state.display, view: 'chat' } };

const NO_EXEC = 'nothing is run: the viewer was opened with --no-exec';

export const replayHandlers: Handlers<ReplayAction> = {
  'replay-ask': (state, { all }, world) => {
    if (!state.replay.canRun) return say(state, NO_EXEC);
    const place = state.list.cursor;
    const rollout = place === null ? null : world.record(place).rollout;
    if (place === null || rollout === null) return say(state, 'no rollout here');
    const found = nearestCall(rollout, viewport(state, world)?.turn ?? 0);
    if (found === null) return say(state, 'no tool call in this rollout');
    return askCall(state, world, rollout, found, all ? 'all' : null);
  },

  'replay-key': (state, { key }, world) => {
    const { question } = state.replay;
    if (question === null) return state;
    if (['esc', 'q', 'ctrl+c', 'ctrl+g'].includes(key)) return ask(state, null);
    return question.kind === 'call' ? callKey(state, question, key, world) : forkKey(state, question, key, world);
  },

  rescore: (state, { all }, world) => {
    const { cursor } = state.list;
    if (cursor === null) return say(state, 'no rollout here');
    return doing(state, { kind: 'rescore', rows: all ? world.rows(state) : groupRows(cursor.file, [cursor.record]) });
  },

  'fork-ask': (state, _action, world) => {
    if (!state.replay.canRun) return say(state, NO_EXEC);
    const place = state.list.cursor;
    const turn = viewport(state, world)?.turn ?? null;
    if (place === null || turn === null) return say(state, 'no turn to go on from');
    const { model } = state.replay;
    if (model === null) return promptHandlers['prompt-open'](state, { type: 'prompt-open', prompt: 'model' }, world);
    return doing(ask(state, { kind: 'fork', place, turn, edited: null, model, where: null }), {
      kind: 'fork-where',
      place,
    });
  },

  branches: (state, _action, world) => {
    const { cursor } = state.list;
    const locator = cursor === null ? '' : world.record(cursor).locator;
    if ((state.replay.rollouts.get(locator)?.branches.length ?? 0) === 0)
      return say(state, `no branches yet; ${keyOf(state, 'fork')} goes on from a turn with a live model`);
    return atBranches(state, world);
  },

  'replay-where': (state, { place, call, where }) => {
    const { question } = state.replay;
    if (question === null || !samePlace(question.place, place)) return state;
    if ((question.kind === 'call' ? question.call : null) !== call) return state;
    return ask(state, { ...question, where });
  },

  'replay-edited': (state, { place, call, args }) => {
    const { question } = state.replay;
    if (question?.kind !== 'call' || question.call !== call || !samePlace(question.place, place)) return state;
    return ask(state, { ...question, edited: args });
  },

  'fork-edited': (state, { place, turn, text }) => {
    const { question } = state.replay;
    if (question?.kind !== 'fork' || question.turn !== turn || !samePlace(question.place, place)) return state;
    return ask(state, { ...question, edited: text });
  },

  'replay-rollout': (state, { locator, replay }) =>
    withReplay(state, { rollouts: new Map(state.replay.rollouts).set(locator, replay) }),

  'replay-words': (state, { words }) => withReplay(state, { words }),

  'replay-busy': (state, { isBusy, bulk }) => withReplay(state, { isBusy, bulk }),

  'replay-drift': (state, { place, turn }, world) => {
    if (!samePlace(state.list.cursor, place)) return state;
    const view = viewport(state, world);
    return view === null ? state : say(goToTurn(state, view, turn), 'the first result that differs');
  },

  'replay-tick': (state, { now }) => {
    const rollouts = new Map(state.replay.rollouts);
    for (const [locator, replay] of rollouts)
      if ([...replay.calls.values()].some(({ underway }) => underway !== null))
        rollouts.set(locator, { ...replay, now });
    return withReplay(state, { rollouts });
  },
};

function askCall(
  state: State,
  world: World,
  rollout: Rollout,
  { call, turn }: { call: ToolCall; turn: number },
  confirm: CallQuestion['confirm'] = null,
): Result {
  const place = state.list.cursor!;
  const question: CallQuestion = {
    kind: 'call',
    place,
    call: call.index,
    turn,
    name: call.name ?? 'a call without a name',
    edited: undefined,
    repeat: 1,
    calls: rollout.turns.reduce((sum, one) => sum + one.toolCalls.length, 0),
    rollouts: world.rows(state).length,
    where: null,
    confirm,
  };
  return doing(ask(state, question), { kind: 'where', place, call: call.index });
}

function callKey(state: State, question: CallQuestion, key: string, world: World): Result {
  const { place, call, edited, repeat, where, confirm } = question;
  if (confirm !== null) {
    if (key !== 'y' || where === null || where.name === '') return state;
    return doNow(state, bulkJob(state, question, confirm, world));
  }
  if (key === 'k') {
    const next = REPEATS[(REPEATS.indexOf(repeat) + 1) % REPEATS.length]!;
    return ask(state, { ...question, repeat: next });
  }
  if (key === 'tab') {
    const rollout = world.record(place).rollout;
    const all = rollout === null ? [] : callsOf(rollout);
    const next = all[(all.findIndex((one) => one.call.index === call) + 1) % all.length];
    return rollout === null || next === undefined || all.length === 1 ? state : askCall(state, world, rollout, next);
  }
  // What runs and where is said before it runs.
  if (where === null) return state;
  if (key === 'e' && where.name !== '') return doing(state, { kind: 'edit', place, call, args: edited });
  if (key === 'a' || key === 'f') {
    const kind = key === 'a' ? 'all' : 'list';
    if (where.asks !== null) return ask(state, { ...question, confirm: kind });
    return doNow(state, bulkJob(state, question, kind, world));
  }
  if (key !== 'enter') return state;
  if (where.problem !== null && edited === undefined) return state;
  return doNow(state, { kind: 'run', place, call, args: edited, repeat });
}

const bulkJob = (state: State, { place, repeat }: CallQuestion, kind: 'all' | 'list', world: World): ReplayJob =>
  kind === 'all' ? { kind, place, repeat } : { kind, rows: world.rows(state), repeat };

function forkKey(state: State, { place, turn, edited, model, where }: ForkQuestion, key: string, world: World): Result {
  if (key === 'e') return doing(state, { kind: 'fork-edit', place, turn, text: edited });
  const n = key === 'enter' ? 1 : /^[1-9]$/.test(key) ? Number(key) : 0;
  if (n === 0 || where === null || where.problem !== null) return state;
  return doNow(atBranches(state, world), { kind: 'fork', place, turn, edited, model, n });
}

const callsOf = (rollout: Rollout): { call: ToolCall; turn: number }[] =>
  rollout.turns.flatMap((turn) => turn.toolCalls.map((call) => ({ call, turn: turn.index })));

/** The call that this turn makes or answers, else the last one before it, else the first one behind it. */
function nearestCall(rollout: Rollout, turn: number): { call: ToolCall; turn: number } | null {
  const calls = callsOf(rollout);
  return (
    calls.find((one) => one.turn === turn || one.call.resultTurn === turn) ??
    calls.findLast((one) => one.turn < turn) ??
    calls[0] ??
    null
  );
}
