import type { Place } from '../../../core/dump/dump.ts';
import { NOTHING_RUN, type RolloutReplay } from '../../present/replay/view.ts';
import type { Data } from '../rows/data.ts';
import { markedRows } from '../rows/marked-rows.ts';
import { goToTurn, viewport } from '../rows/viewport.ts';
import { nearestWorldCall, worldCalls } from '../rows/world-calls.ts';
import { assertNever } from '../state/assert-never.ts';
import type { CallQuestion, Way } from '../state/replay.ts';
import { type Rows, samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { askCall, callKey, nearestCall } from './call-question.ts';
import { askFork, forkKey, withAgent, withForkSettings } from './fork-question.ts';
import { ask, atBranches, NO_EXEC, withReplayState } from './question.ts';
import { askRescore, chooseReward, rescoreKey, withReward } from './rescore-question.ts';
import { key as keyOf, type Result, type SomeHandlers, saying } from './result.ts';
import { changedReplay, ended } from './rollout-replay.ts';
import { askWorld, chooseWorld, foundWorld, worldKey } from './world-question.ts';

export const replayHandlers = {
  'replay-ask': (state, { all }, data) => {
    if (!state.replay.canRun) return saying(state, NO_EXEC);
    const marked = markedRows(state, data);
    if (marked !== null) return askMarked(state, data, marked);
    const place = state.list.cursor;
    const rollout = place === null ? null : data.record(place).rollout;
    if (place === null || rollout === null) return saying(state, 'no rollout here');
    const turn = viewport(state, data)?.turn ?? 0;
    const found = nearestCall(rollout, turn);
    if (found === null) {
      const call = nearestWorldCall(rollout, turn);
      if (call === undefined) return saying(state, 'no tool call in this rollout');
      return askWorld(state, data, rollout, call, { place, confirm: all ? 'all' : null });
    }
    return askCall(state, data, rollout, found, { confirm: all ? 'all' : null });
  },

  'replay-key': (state, { key }, data) => {
    const { question } = state.replay;
    if (question === null) return state;
    if (['esc', 'q', 'ctrl+c', 'ctrl+g'].includes(key)) return ask(state, null);
    switch (question.kind) {
      case 'call':
        return callKey(state, question, key, data);
      case 'world':
        return worldKey(state, question, key, data);
      case 'fork':
        return forkKey(state, question, key, data);
      case 'rescore':
        return rescoreKey(state, question, key, data);
      default:
        return assertNever(question);
    }
  },

  rescore: (state, { all }, data) => askRescore(state, data, all),

  reward: (state, { text, line, prompt }, data) => chooseReward(state, data, text, line, prompt),

  'reward-chosen': (state, { choice }, data) => withReward(state, data, choice),

  'fork-ask': (state, { model }, data) => {
    if (!state.replay.canRun) return saying(state, NO_EXEC);
    return askFork(model === undefined ? state : withReplayState(state, { model }), data);
  },

  'fork-agent': (state, { command }) => withAgent(state, command),

  'fork-settings': (state, { settings }) => withForkSettings(state, settings),

  branches: (state, _action, data) => {
    const { cursor } = state.list;
    const locator = cursor === null ? '' : data.record(cursor).locator;
    if ((state.replay.rollouts.get(locator)?.branches.length ?? 0) === 0)
      return saying(state, `no branches yet; ${keyOf(state, data, 'fork')} makes one with a live model`);
    return atBranches(state, data);
  },

  'replay-where': (state, { place, call, way, where }) => {
    const { question } = state.replay;
    if (question?.kind !== 'call' && question?.kind !== 'fork') return state;
    if (!samePlace(question.place, place)) return state;
    if (question.kind === 'call' ? !isAbout(question, place, call, way) : call !== null) return state;
    return ask(state, { ...question, where });
  },

  'world-needed': (state, { place, call }, data) => {
    const { question } = state.replay;
    const { rollout } = data.record(place);
    const found = rollout === null ? undefined : worldCalls(rollout).find((one) => one.call === call);
    if (question?.kind !== 'call' || question.call !== call || !samePlace(question.place, place)) return state;
    if (rollout === null || found === undefined) return state;
    const { marked } = question;
    const confirm = question.confirm === 'again' ? 'list' : question.confirm;
    return askWorld(state, data, rollout, found, { place, marked, confirm });
  },

  'world-where': (state, found) => foundWorld(state, found),

  'fork-world': (state, { place, wish, inWorld }) => {
    const { question } = state.replay;
    return question?.kind === 'fork' && samePlace(question.place, place) && question.wish === wish
      ? ask(state, { ...question, inWorld })
      : state;
  },

  world: (state, { wish }) => chooseWorld(state, wish),

  bisect: (state, { command }) => {
    const { question } = state.replay;
    return question?.kind === 'world' ? ask(state, { ...question, command, confirm: 'bisect' }) : state;
  },

  'replay-known': (state, { place, call, way, known, rollouts }) => {
    const { question } = state.replay;
    return question?.kind === 'call' && isAbout(question, place, call, way)
      ? ask(state, { ...question, known, rollouts })
      : state;
  },

  'replay-backend': (state, { name }) => withReplayState(state, { backend: name }),

  'replay-edited': (state, { place, call, args }) => {
    const { question } = state.replay;
    if (question?.kind !== 'call' && question?.kind !== 'world') return state;
    if (question.call !== call || !samePlace(question.place, place)) return state;
    return ask(state, { ...question, edited: args });
  },

  'fork-edited': (state, { place, turn, text }) => {
    const { question } = state.replay;
    if (question?.kind !== 'fork' || question.turn !== turn || !samePlace(question.place, place)) return state;
    return ask(state, { ...question, edited: text });
  },

  'fork-parted': (state, { place, branch }) =>
    samePlace(state.list.cursor, place) &&
    state.page === null &&
    state.prompt === null &&
    state.replay.question === null
      ? { state, next: { type: 'page-compare', place: branch } }
      : state,

  'replay-rollout': (state, { locator, change, now }) => {
    const { rollouts } = state.replay;
    const replay = changedReplay(rollouts.get(locator) ?? NOTHING_RUN, change, now);
    return withReplayState(state, { rollouts: new Map(rollouts).set(locator, replay) });
  },

  'replay-words': (state, { words, rescores }) =>
    withReplayState(state, {
      words: new Map([...state.replay.words, ...words]),
      rescores: new Map([...state.replay.rescores, ...rescores]),
    }),

  'replay-busy': (state, { isBusy, bulk }) => withReplayState(state, { isBusy, bulk }),

  'replay-drift': (state, { place, turn, words }, data) => {
    if (!samePlace(state.list.cursor, place)) return state;
    const view = viewport(state, data);
    return view === null ? state : saying(goToTurn(state, view, turn), words);
  },

  'replay-tick': (state, { now }) => ofUnderway(state, (replay) => ({ ...replay, now })),

  'replay-idle': (state, { now }) => ofUnderway(state, (replay) => ended(replay, now)),
} satisfies SomeHandlers;

/** Asks about the calls of the marked rows: where they would run is determined for the first one. */
function askMarked(state: State, data: Data, marked: Rows): Result {
  for (let row = 0; row < marked.length; row++) {
    const place = marked.at(row);
    const rollout = place === null ? null : data.record(place).rollout;
    if (place === null || rollout === null) continue;
    const found = nearestCall(rollout, 0);
    if (found !== null) return askCall(state, data, rollout, found, { confirm: 'list', marked, place });
    const call = nearestWorldCall(rollout, 0);
    if (call !== undefined) return askWorld(state, data, rollout, call, { confirm: 'list', marked, place });
  }
  return saying(state, `no tool call in the ${marked.length} marked rollouts`);
}

/** Changes every rollout that has calls in progress. */
function ofUnderway(state: State, change: (replay: RolloutReplay) => RolloutReplay): State {
  const rollouts = new Map(state.replay.rollouts);
  for (const [locator, replay] of rollouts)
    if ([...replay.calls.values(), ...replay.world.values()].some(({ underway }) => underway !== null))
      rollouts.set(locator, change(replay));
  return withReplayState(state, { rollouts });
}

/** The question may have changed since its answer was requested. */
const isAbout = (question: CallQuestion, place: Place, call: number | null, way: Way | null): boolean =>
  question.call === call &&
  samePlace(question.place, place) &&
  question.repeat === way?.repeat &&
  question.session === way.session;
