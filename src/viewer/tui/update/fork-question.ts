import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { forkLine } from '../questions/fork-settings.ts';
import type { Data } from '../rows/data.ts';
import { viewport } from '../rows/viewport.ts';
import type { ForkQuestion, ForkSettings, WorldWish } from '../state/replay.ts';
import type { State } from '../state/state.ts';
import { ask, atBranches, doing, doNow, withReplayState } from './question.ts';
import { type Result, saying } from './result.ts';

/** Asks whether to continue from the turn under the cursor; asks for the model first if none is known. */
export function askFork(state: State, data: Data): Result {
  const place = state.list.cursor;
  const turn = viewport(state, data)?.turn ?? null;
  if (place === null || turn === null) return saying(state, 'no turn to continue from');
  const { model, fork: settings, reward, agent: command } = state.replay;
  if (model === null) return { state, next: { type: 'prompt-open', prompt: 'model' } };
  const { world: wish } = state.replay;
  const agent = command === null ? null : { command, isOnTerminal: false };
  const fresh = { agent, where: null, inWorld: null, confirm: null } as const;
  const question: ForkQuestion = { kind: 'fork', place, turn, edited: null, model, settings, reward, wish, ...fresh };
  return lookFork(state, question);
}

function lookFork(state: State, question: ForkQuestion): Result {
  const { place, wish } = question;
  return doing(ask(state, { ...question, where: null, inWorld: null }), { kind: 'fork-where', place, wish });
}

/** An open question about a fork is asked again in the new image. */
export const forkIn = (state: State, question: ForkQuestion, wish: WorldWish | null): Result =>
  lookFork(state, { ...question, wish, confirm: null });

export function forkKey(state: State, question: ForkQuestion, key: string, data: Data): Result {
  const { place, turn, edited, settings, where, inWorld, agent, confirm } = question;
  if (key === 'a' && confirm === null)
    return { state, next: { type: 'prompt-open', prompt: 'agent', value: agent?.command ?? '' } };
  if (key === 'w' && (inWorld !== null || agent !== null))
    return { state, next: { type: 'prompt-open', prompt: 'world', value: '' } };
  if (confirm !== null) return key === 'y' ? forkNow(state, question, confirm, data) : state;
  if (key === 'e' || key === 'E')
    return doing(state, { kind: 'fork-edit', place, turn, text: edited, inside: key === 'E' });
  if (key === 's')
    return { state, next: { type: 'prompt-open', prompt: 'sampling', value: forkLine(state.replay.fork) } };
  if (agent !== null && key === 't')
    return forkNow(state, { ...question, agent: { ...agent, isOnTerminal: true } }, 1, data);
  const n = key === 'enter' ? settings.n : /^[1-9]$/.test(key) ? Number(key) : 0;
  // The agent brings its tools.
  if (agent !== null && n > 0) return forkNow(state, question, n, data);
  if (n === 0 || where === null) return state;
  const problem = where.problem ?? inWorld?.problem ?? null;
  if (problem !== null) return saying(state, sanitiseLine(problem));
  if ((inWorld?.asks ?? null) !== null) return ask(state, { ...question, confirm: n });
  return forkNow(state, question, n, data);
}

function forkNow(state: State, question: ForkQuestion, n: number, data: Data): Result {
  const { place, turn, edited, model, settings, reward, wish, inWorld, agent } = question;
  return doNow(atBranches(state, data), {
    kind: 'fork',
    place,
    turn,
    edited,
    model,
    reward,
    wish,
    agent,
    image: inWorld?.image ?? null,
    settings: { ...settings, n },
  });
}

/** An open question about a fork adopts the agent too. */
export function withAgent(state: State, command: string | null): State {
  const { question } = state.replay;
  const agent = command === null ? null : { command, isOnTerminal: false };
  return withReplayState(state, {
    agent: command,
    question: question?.kind === 'fork' ? { ...question, agent } : question,
  });
}

/** An open question about a fork adopts the settings too. */
export function withForkSettings(state: State, fork: ForkSettings): State {
  const { question } = state.replay;
  const asked = question?.kind === 'fork' ? { ...question, settings: fork } : question;
  return withReplayState(state, { fork, question: asked });
}
