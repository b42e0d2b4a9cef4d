import type { RecordedAction } from '../../../analysis/actions/action.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { Rollout } from '../../../core/rollout/rollout.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { shellWord } from '../../../core/text/shell-quote.ts';
import type { Data } from '../rows/data.ts';
import { worldCalls } from '../rows/world-calls.ts';
import type { FoundWorld, WhatRuns, WorldQuestion, WorldWish } from '../state/replay.ts';
import { type Rows, samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { forkIn } from './fork-question.ts';
import { notWhole } from './list-choice.ts';
import { ask, doing, doNow, withReplayState } from './question.ts';
import { type Result, saying } from './result.ts';

interface AskWorld {
  place: Place;
  marked?: Rows | null;
  confirm?: WhatRuns | null;
}

/** Asks about a call of a container; meanwhile, finds out in which image it would run. */
export function askWorld(
  state: State,
  data: Data,
  rollout: Rollout,
  { call, turn, name }: Pick<RecordedAction, 'call' | 'turn' | 'name'>,
  { place, marked = null, confirm = null }: AskWorld,
): Result {
  const question: WorldQuestion = {
    kind: 'world',
    place,
    call,
    turn,
    name: name === '' ? 'a call without a name' : name,
    edited: undefined,
    calls: worldCalls(rollout).length,
    rollouts: (marked ?? data.rows(state)).length,
    marked,
    wish: state.replay.world,
    found: null,
    confirm,
    command: '',
  };
  return lookWorld(state, question);
}

function lookWorld(state: State, question: WorldQuestion): Result {
  const { place, call, wish } = question;
  return doing(ask(state, { ...question, found: null }), { kind: 'world-where', place, call, wish });
}

/** The answer to an open question; one about another call or image is dropped. */
export function foundWorld(
  state: State,
  { place, call, wish, found }: { place: Place; call: number; wish: WorldWish | null; found: FoundWorld },
): State {
  const { question } = state.replay;
  return question?.kind === 'world' &&
    samePlace(question.place, place) &&
    question.call === call &&
    question.wish === wish
    ? ask(state, { ...question, found })
    : state;
}

/** An open question about a world is asked again in the new image. */
export function chooseWorld(state: State, world: WorldWish | null): Result {
  const { question } = state.replay;
  const next = withReplayState(state, { world });
  if (question?.kind === 'fork') return forkIn(next, question, world);
  if (question?.kind === 'world') return lookWorld(next, { ...question, wish: world });
  const said = world === null ? 'the image that the record names' : sanitiseLine(world.image);
  return saying(next, `calls of a container run in ${said} from now on`);
}

const RUNS: Readonly<Record<string, WhatRuns>> = { enter: 'call', a: 'all', f: 'list', i: 'before', I: 'after' };

export function worldKey(state: State, question: WorldQuestion, key: string, data: Data): Result {
  const { place, call, edited, found, confirm, marked } = question;
  if (key === 'w') return { state, next: { type: 'prompt-open', prompt: 'world', value: '' } };
  if (key === 'c' && confirm === null) {
    const text = replayCommand(question, data.record(place).locator);
    return { state: ask(state, null), effects: [{ type: 'copy', text, words: sanitiseLine(text) }] };
  }
  if (key === 'tab' && confirm === null) {
    const { rollout } = data.record(place);
    const all = rollout === null ? [] : worldCalls(rollout);
    const next = all[(all.findIndex((one) => one.call === call) + 1) % all.length];
    return rollout === null || next === undefined ? state : askWorld(state, data, rollout, next, { place, marked });
  }
  // Nothing runs before the screen has shown what runs, and where.
  if (found === null) return state;
  if ((key === 'e' || key === 'E') && confirm === null)
    return doing(state, { kind: 'edit', place, call, args: edited, inside: key === 'E' });
  if (key === 'b' && confirm === null && found.problem === null && found.image !== null)
    return { state, next: { type: 'prompt-open', prompt: 'bisect', value: question.command } };
  const run = confirm === null ? RUNS[key] : key === 'y' ? confirm : undefined;
  if (run === undefined) return state;
  if (found.problem !== null) return saying(state, sanitiseLine(found.problem));
  if (found.image === null) return { state, next: { type: 'prompt-open', prompt: 'world', value: '' } };
  const isMuch = run === 'all' || run === 'list' || found.asks !== null;
  if (confirm === null && isMuch) return ask(state, { ...question, confirm: run });
  return runNow(state, question, run, found.image, data);
}

function runNow(state: State, question: WorldQuestion, run: WhatRuns, image: string, data: Data): Result {
  const { place, call, edited, wish, marked, command } = question;
  if (run === 'bisect') return doNow(state, { kind: 'world-bisect', place, wish, command });
  if (run !== 'list') return doNow(state, { kind: 'world-run', place, call, edited, wish, run });
  const reason = marked !== null ? null : notWhole(state, data);
  if (reason !== null) return saying(state, reason);
  return doNow(state, { kind: 'world-list', rows: marked ?? data.rows(state), image, wish });
}

/** The command that runs a rollout in its image, up to a call. It ends where the image is typed if nothing names one. */
function replayCommand({ call, wish, found }: WorldQuestion, locator: string): string {
  const { workdir, shell, timeLimit, network, env = {} } = wish ?? { network: false };
  const image = wish !== null ? shellWord(wish.image) : (found?.image ?? null) === null ? '' : 'recorded';
  const words = [
    ...(workdir === undefined ? [] : ['--workdir', shellWord(workdir)]),
    ...(shell === undefined ? [] : ['--shell', shell]),
    ...(timeLimit === undefined ? [] : ['--time-limit', String(timeLimit)]),
    ...Object.entries(env).flatMap(([name, value]) => ['--env', shellWord(`${name}=${value}`)]),
    ...(network ? ['--network'] : []),
    '--image',
    image,
  ];
  return `rollout-viewer replay ${shellWord(locator)} --call ${call} ${words.join(' ')}`;
}
