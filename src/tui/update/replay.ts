import type { Place } from '../../dump/dump.ts';
import { samePlace } from '../rows/rows.ts';
import { goToTurn, viewport } from '../rows/viewport.ts';
import type { CallQuestion } from '../state/replay.ts';
import type { ReplayAction, Way } from '../state/replay-actions.ts';
import { askCall, callKey, nearestCall } from './call-question.ts';
import { askFork, forkKey } from './fork-question.ts';
import { ask, atBranches, NO_EXEC, withReplay } from './question.ts';
import { askRescore, rescoreKey } from './rescore-question.ts';
import { type Handlers, key as keyOf, say } from './result.ts';

export const replayHandlers: Handlers<ReplayAction> = {
  'replay-ask': (state, { all }, data) => {
    if (!state.replay.canRun) return say(state, NO_EXEC);
    const place = state.list.cursor;
    const rollout = place === null ? null : data.record(place).rollout;
    if (place === null || rollout === null) return say(state, 'no rollout here');
    const found = nearestCall(rollout, viewport(state, data)?.turn ?? 0);
    if (found === null) return say(state, 'no tool call in this rollout');
    return askCall(state, data, rollout, found, all ? 'all' : null);
  },

  'replay-key': (state, { key }, data) => {
    const { question } = state.replay;
    if (question === null) return state;
    if (['esc', 'q', 'ctrl+c', 'ctrl+g'].includes(key)) return ask(state, null);
    if (question.kind === 'call') return callKey(state, question, key, data);
    return question.kind === 'fork' ? forkKey(state, question, key, data) : rescoreKey(state, question, key, data);
  },

  rescore: (state, { all }, data) => askRescore(state, data, all),

  'fork-ask': (state, _action, data) => (state.replay.canRun ? askFork(state, data) : say(state, NO_EXEC)),

  branches: (state, _action, data) => {
    const { cursor } = state.list;
    const locator = cursor === null ? '' : data.record(cursor).locator;
    if ((state.replay.rollouts.get(locator)?.branches.length ?? 0) === 0)
      return say(state, `no branches yet; ${keyOf(state, 'fork')} makes one with a live model`);
    return atBranches(state, data);
  },

  'replay-where': (state, { place, call, way, where }) => {
    const { question } = state.replay;
    if (question === null || question.kind === 'rescore' || !samePlace(question.place, place)) return state;
    if (question.kind === 'call' ? !isAbout(question, place, call, way) : call !== null) return state;
    return ask(state, { ...question, where });
  },

  'replay-known': (state, { place, call, way, known, rollouts }) => {
    const { question } = state.replay;
    return question?.kind === 'call' && isAbout(question, place, call, way)
      ? ask(state, { ...question, known, rollouts })
      : state;
  },

  'replay-backend': (state, { name }) => withReplay(state, { backend: name }),

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

  'replay-words': (state, { words, rescores }) => withReplay(state, { words, rescores }),

  'replay-busy': (state, { isBusy, bulk }) => withReplay(state, { isBusy, bulk }),

  'replay-drift': (state, { place, turn }, data) => {
    if (!samePlace(state.list.cursor, place)) return state;
    const view = viewport(state, data);
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

/** What was asked may have changed since the runner was told of it. */
const isAbout = (question: CallQuestion, place: Place, call: number | null, way: Way | null): boolean =>
  question.call === call &&
  samePlace(question.place, place) &&
  question.repeat === way?.repeat &&
  question.session === way.session;
