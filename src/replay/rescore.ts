import PQueue from 'p-queue';
import type { DumpRecord } from '../core/dump/dump-file.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json/value.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { RolloutFault } from '../engine/common/faults.ts';
import type { RewardRouter, RewardTask } from '../engine/index.ts';
import type { OverlongBuffer } from '../engine/rewards/index.ts';
import { RESCORES } from './entries.ts';
import type { Journal } from './journal/journal.ts';
import { recordKey } from './journal/record-key.ts';
import { penalised, type ResponseLength, responseLength } from './overlong.ts';
import { dataSourceOf, extraInfoOf, judgedText, turnCount, wholeResponse } from './reward-task.ts';
import { type Spread, spreadOf } from './spread.ts';

/** The recorded score of a rollout against today's reward function. Keys are those of `rescore --json`. */
export interface Rescored {
  locator: string;
  /** The function that scored it; null if none is known for its data source. */
  reward: string | null;
  recorded: number | null;
  score: number | null;
  /** same: equal within float32 precision; unknown: one of the two is missing. */
  status: 'same' | 'drift' | 'error' | 'unknown';
  reason: string | null;
  /** The answer that the function extracted, if it reports it. */
  pred: JsonValue;
  metadata: JsonObject;
  seconds: number;
  /** Present if it was scored more than once; `score` is then the mean. */
  repeats: Repeats | null;
  /** A second function's score beside it. */
  against: OtherReward | null;
}

interface Repeats {
  /** Runs that gave a score. */
  runs: number;
  /** The standard deviation of these runs. */
  deviation: number;
  min: number;
  max: number;
  /** The function gives one answer several scores. */
  wavers: boolean;
}

interface OtherReward extends Pick<Rescored, 'reward' | 'score' | 'pred' | 'reason'> {
  /** The two scores differ, or one is missing. */
  parts: boolean;
}

export interface RescoreOptions {
  /** How many times to score; for functions that use a judge model. */
  repeat?: number;
  /** A second function, scored beside the first. */
  against?: RewardRouter | undefined;
}

/** A rollout to re-score, as plain data. */
export interface ScoreTask {
  locator: string;
  recorded: number | null;
  /** The task and the text to judge; null if the record cannot be read. */
  asked: { task: RewardTask; text: string; length: ResponseLength } | null;
  /** Why it cannot be read. */
  error: string | null;
}

/** @param overlong verl's overlong penalty, subtracted from the score */
function scoreTaskOf({ rollout, locator, error }: DumpRecord, overlong: OverlongBuffer | null): ScoreTask {
  if (rollout === null) return { locator, recorded: null, asked: null, error };
  const info = extraInfoOf(rollout);
  const task: RewardTask = {
    ground_truth: rollout.groundTruth ?? null,
    data_source: dataSourceOf(rollout),
    question: rollout.turns.slice(0, rollout.responseTurn).findLast(({ role }) => role === 'user')?.text ?? '',
    ...(isJsonObject(info) ? { extra_info: info } : {}),
    response_str: wholeResponse(rollout),
    num_turns: turnCount(rollout),
    ...(isJsonObject(rollout.extras.reward_scores) ? { reward_scores: rollout.extras.reward_scores } : {}),
  };
  const asked = { task, text: judgedText(rollout), length: responseLength(rollout, overlong) };
  return { locator, recorded: rollout.score, asked, error: null };
}

/** Scores a recorded rollout the requested number of times, by one function or two. Rejects only with the reason of an aborted signal. */
export const rescoreRollout = (
  row: DumpRecord,
  rewards: RewardRouter,
  signal?: AbortSignal,
  { overlong = null, ...options }: RescoreOptions & { overlong?: OverlongBuffer | null } = {},
): Promise<Rescored> => rescoreTask(scoreTaskOf(row, overlong), rewards, signal, options);

export async function rescoreTask(
  row: ScoreTask,
  rewards: RewardRouter,
  signal?: AbortSignal,
  { repeat = 1, against }: RescoreOptions = {},
): Promise<Rescored> {
  const [scored, other] = await Promise.all([
    rescoreOften(row, rewards, repeat, signal),
    against === undefined ? null : rescoreOften(row, against, repeat, signal),
  ]);
  if (other === null) return scored;
  const { reward, score, pred, reason } = other;
  const parts = score === null || scored.score === null ? score !== scored.score : !isEqualScore(score, scored.score);
  return { ...scored, against: { reward, score, pred, reason, parts } };
}

async function rescoreOften(
  row: ScoreTask,
  rewards: RewardRouter,
  repeat: number,
  signal: AbortSignal | undefined,
): Promise<Rescored> {
  const first = await rescoreOnce(row, rewards, signal);
  const runs = [first];
  // An unknown score stays unknown.
  while (runs.length < repeat && first.status !== 'unknown') runs.push(await rescoreOnce(row, rewards, signal));
  const scores = runs.flatMap(({ score }) => score ?? []);
  if (repeat === 1 || scores.length === 0) return first;
  const { mean: score, min, max, deviation } = spreadOf(scores) as Spread;
  const seconds = runs.reduce((sum, run) => sum + run.seconds, 0);
  const answered = runs.find((run) => run.score !== null) as Rescored;
  const repeats = { runs: scores.length, deviation, min, max, wavers: !isEqualScore(min, max) };
  const failed = runs.length - scores.length;
  const reasons = [
    answered.reason,
    ...(repeats.wavers ? [`${min} to ${max} in ${scores.length} runs`] : []),
    ...(failed > 0 ? [`${failed} of ${runs.length} runs gave no score`] : []),
  ].filter((reason) => reason !== null);
  const { recorded } = first;
  const isWithin = recorded !== null && recorded >= min - EPSILON && recorded <= max + EPSILON;
  return {
    ...answered,
    score,
    status: recorded === null ? 'unknown' : isWithin ? 'same' : 'drift',
    reason: reasons.length === 0 ? null : reasons.join('; '),
    seconds,
    repeats,
  };
}

/** verl keeps scores as float32, and sums them. */
const EPSILON = 1e-5;

const isEqualScore = (a: number, b: number): boolean =>
  Object.is(a, b) || Math.abs(a - b) <= EPSILON * Math.max(1, Math.abs(a));

async function rescoreOnce(
  { locator, recorded, asked, error }: ScoreTask,
  rewards: RewardRouter,
  signal?: AbortSignal,
): Promise<Rescored> {
  const begun = performance.now();
  const base = {
    locator,
    reward: null,
    recorded,
    score: null,
    pred: null,
    metadata: {},
    seconds: 0,
    repeats: null,
    against: null,
  };
  if (asked === null) return { ...base, status: 'error', reason: error };
  const { task, text, length } = asked;
  let found: ReturnType<RewardRouter['for']>;
  try {
    found = rewards.for(task.data_source);
  } catch (error) {
    return { ...base, status: 'unknown', reason: errorMessage(error) };
  }
  const seconds = () => (performance.now() - begun) / 1000;
  try {
    const { reward, metadata: own } = await found.fn(task, text, signal);
    const { score, penalty, reason: cost } = penalised(reward, recorded, length);
    const metadata = penalty === null ? own : { ...own, overlong_reward: penalty, overlong: penalty < 0 };
    const scored = { ...base, reward: found.name, pred: metadata.pred ?? null, metadata, seconds: seconds() };
    // verl's 0 for a failed service is nobody's judgement.
    if (typeof metadata.error === 'string') return { ...scored, status: 'error', reason: metadata.error };
    const older = olderScore(metadata);
    // The record says which version of the function made it.
    if (older !== null && recorded === older.score)
      return {
        ...scored,
        score: older.score,
        status: 'same',
        reason: `as verl ${older.verl} scored it; today's verl gives ${score}`,
      };
    const judged = { ...scored, score };
    const reasons = [older === null ? [] : `verl ${older.verl} gave ${older.score}`, cost ?? []].flat();
    if (recorded === null)
      return { ...judged, status: 'unknown', reason: [...reasons, 'the record has no score'].join('; ') };
    const reason = reasons.length === 0 ? null : reasons.join('; ');
    return { ...judged, status: isEqualScore(score, recorded) ? 'same' : 'drift', reason };
  } catch (error) {
    signal?.throwIfAborted();
    const isWithoutTruth = error instanceof RolloutFault && error.reason === 'no_truth';
    const status = isWithoutTruth ? 'unknown' : 'error';
    return { ...base, reward: found.name, status, reason: errorMessage(error), seconds: seconds() };
  }
}

function olderScore({ older }: JsonObject): { verl: string; score: number } | null {
  if (!isJsonObject(older) || typeof older.verl !== 'string' || typeof older.score !== 'number') return null;
  return { verl: older.verl, score: older.score };
}

interface ManyOptions {
  concurrency?: number;
  signal?: AbortSignal;
  journal?: Journal;
  overlong?: OverlongBuffer | null;
  /** Reuse scores from the journal since then: the run was killed and is being continued. */
  resumedFrom?: string | null;
}

/** Scores many, in order; ends early and silently if aborted. Each score is in the journal before it is yielded. */
export async function* rescoreMany(
  rows: AsyncIterable<DumpRecord>,
  score: (task: ScoreTask) => Promise<Rescored | null>,
  { concurrency = 8, signal, journal, overlong = null, resumedFrom = null }: ManyOptions = {},
): AsyncGenerator<Rescored> {
  const queue = new PQueue({ concurrency });
  const waiting: Promise<Rescored | null>[] = [];
  const start = (row: DumpRecord) =>
    queue.add(async () => {
      if (signal?.aborted) return null;
      const known = resumedFrom === null ? null : scoredSince(journal, row, resumedFrom);
      if (known !== null) return known;
      try {
        const scored = await score(scoreTaskOf(row, overlong));
        if (scored !== null && journal !== undefined) keepRescore(journal, row, scored);
        return scored;
      } catch (error) {
        if (signal?.aborted) return null;
        throw error;
      }
    });
  for await (const row of rows) {
    if (signal?.aborted) break;
    waiting.push(start(row));
    if (waiting.length <= 4 * concurrency) continue;
    const scored = await waiting.shift();
    if (scored) yield scored;
  }
  for (const one of waiting) {
    const scored = await one;
    if (scored) yield scored;
  }
}

/** A re-computed score: the keys of a journal entry. */
export type KeptScore = Pick<Rescored, 'recorded' | 'score' | 'reward' | 'reason' | 'pred'> & { status: string };

function keepRescore(journal: Journal, { raw }: DumpRecord, scored: Rescored): void {
  const { locator, status, recorded, score, reward, reason, pred } = scored;
  if (reward !== null)
    journal.append(RESCORES, { record: recordKey(raw), locator, status, recorded, score, reward, reason, pred });
}

function scoredSince(journal: Journal | undefined, { raw, locator }: DumpRecord, since: string): Rescored | null {
  const entry = journal?.known(RESCORES, recordKey(raw)).at(-1);
  if (entry === undefined || entry.at < since) return null;
  const { status, recorded, score, reward, reason, pred } = entry;
  const kept = { locator, recorded, score, reward, reason, status: status as Rescored['status'] };
  return { ...kept, pred: (pred ?? null) as JsonValue, metadata: {}, seconds: 0, repeats: null, against: null };
}

/** The last score that a record was given. */
export function keptRescore(journal: Journal, record: string): KeptScore | null {
  const entry = journal.known(RESCORES, record).at(-1);
  if (entry === undefined) return null;
  const { status, recorded, score, reward, reason, pred } = entry;
  return { status, recorded, score, reward, reason, pred: (pred ?? null) as JsonValue };
}
