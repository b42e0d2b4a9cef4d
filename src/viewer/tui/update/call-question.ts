import type { Place } from '../../../core/dump/dump.ts';
import { numberInAt } from '../../../core/lists/at.ts';
import type { Rollout, ToolCall } from '../../../core/rollout/rollout.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { viewport } from '../rows/viewport.ts';
import type { RunnerJob } from '../state/effect.ts';
import type { CallQuestion, Way } from '../state/replay.ts';
import type { Rows } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { notWhole } from './list-choice.ts';
import { ask, doing, doNow } from './question.ts';
import { type Result, saying } from './result.ts';

/** Repeat counts that `k` cycles through: one run cannot distinguish a flaky call from a drifted one. */
const REPEATS = [1, 3, 10];

interface AskCall {
  confirm?: CallQuestion['confirm'];
  /** The marked rows, instead of the list. */
  marked?: Rows | null;
  place?: Place | null;
}

export interface FoundCall {
  call: ToolCall;
  turn: number;
}

/** Asks about a call; meanwhile, determines where it would run and what would run before it. */
export function askCall(
  state: State,
  data: Data,
  rollout: Rollout,
  { call, turn }: FoundCall,
  { confirm = null, marked = null, place = state.list.cursor }: AskCall = {},
): Result {
  if (place === null) return saying(state, 'no rollout here');
  const { repeat, session } = state.replay;
  const question: CallQuestion = {
    kind: 'call',
    place,
    call: call.index,
    turn,
    name: call.name ?? 'a call without a name',
    edited: undefined,
    repeat,
    session,
    calls: questionCalls(rollout).length,
    rollouts: (marked ?? data.rows(state)).length,
    marked,
    known: null,
    where: null,
    confirm,
  };
  return lookWhere(state, question);
}

function lookWhere(state: State, question: CallQuestion): Result {
  const { place, call, marked } = question;
  const job = { kind: 'where', place, call, marked, ...wayOf(question) } as const;
  return doing(ask(state, { ...question, where: null, known: null }), job);
}

const wayOf = ({ repeat, session }: CallQuestion): Way => ({ repeat, session });

export function callKey(state: State, question: CallQuestion, key: string, data: Data): Result {
  const { place, call, edited, repeat, session, where, confirm } = question;
  if (confirm !== null) return key === 'y' && where !== null ? runMany(state, question, confirm, data) : state;
  if (key === 'k') {
    const steps = [...new Set([...REPEATS, state.replay.repeat])].sort((a, b) => a - b);
    return lookWhere(state, { ...question, repeat: numberInAt(steps, (steps.indexOf(repeat) + 1) % steps.length) });
  }
  if (key === 's' && where?.stateful !== true) return lookWhere(state, { ...question, session: !session });
  if (key === 'tab') {
    const rollout = data.record(place).rollout;
    const all = rollout === null ? [] : questionCalls(rollout);
    const next = all[(all.findIndex((one) => one.call.index === call) + 1) % all.length];
    return rollout === null || next === undefined || all.length === 1
      ? state
      : askCall(state, data, rollout, next, { place, marked: question.marked });
  }
  // Nothing runs before the screen has shown what runs, and where.
  if (where === null) return state;
  if (key === 'e' || key === 'E') return doing(state, { kind: 'edit', place, call, args: edited, inside: key === 'E' });
  if (key === 'i' && where.problem === null) return doNow(state, { kind: 'prompt', place, call, session });
  if (key === 'a' || key === 'f' || key === 'F') {
    const kind = key === 'a' ? 'all' : key === 'f' ? 'list' : 'again';
    return where.asks === null ? runMany(state, question, kind, data) : ask(state, { ...question, confirm: kind });
  }
  if (key !== 'enter') return state;
  // The question may have truncated it; below the question it has the full width.
  if (where.problem !== null && edited === undefined) return saying(state, sanitiseLine(where.problem));
  return doNow(state, { kind: 'run', place, call, args: edited, ...wayOf(question) });
}

/**
 * Runs all calls of the rollout, or of the list; known results of the list are skipped, unless all are known or everything is to be run
 * again.
 */
function runMany(state: State, question: CallQuestion, kind: 'all' | 'list' | 'again', data: Data): Result {
  const { place, known, rollouts, marked } = question;
  const way = wayOf(question);
  if (kind === 'all') return doNow(state, { kind, place, ...way });
  const reason = marked !== null ? null : notWhole(state, data);
  if (reason !== null) return saying(state, reason);
  const resume = kind === 'list' && known !== null && known > 0 && known < rollouts;
  const job: RunnerJob = { kind: 'list', rows: marked ?? data.rows(state), resume, ...way };
  const result = doNow(state, job);
  if (!resume) return result;
  const text = `${formatCount(known)} of ${formatCount(rollouts)} done, continues`;
  return { ...result, state: saying(result.state, text) };
}

const known = new WeakMap<Rollout, readonly FoundCall[]>();

function questionCalls(rollout: Rollout): readonly FoundCall[] {
  const before = known.get(rollout);
  if (before !== undefined) return before;
  const calls: FoundCall[] = [];
  for (const { toolCalls, index } of rollout.turns) for (const call of toolCalls) calls.push({ call, turn: index });
  known.set(rollout, calls);
  return calls;
}

/** The call that this turn makes or answers, else the last one before it, else the first one after it. */
export function nearestCall(rollout: Rollout, turn: number): FoundCall | null {
  const calls = questionCalls(rollout);
  const here = calls.find((one) => one.turn === turn || one.call.resultTurn === turn);
  return here ?? calls.findLast((one) => one.turn < turn) ?? calls[0] ?? null;
}

/** The call in progress at the turn under the cursor; it is cancelled before anything else. */
export function underwayAt(state: State, data: Data): { place: Place; call: number } | null {
  const place = state.list.cursor;
  const turn = viewport(state, data)?.turn ?? null;
  if (place === null || turn === null) return null;
  const { rollout, locator } = data.record(place);
  const replay = state.replay.rollouts.get(locator);
  if (rollout === null || replay === undefined) return null;
  const found = questionCalls(rollout).find(
    ({ call, turn: own }) =>
      (own === turn || call.resultTurn === turn) && (replay.calls.get(call.index)?.underway ?? null) !== null,
  );
  return found === undefined ? null : { place, call: found.call.index };
}
