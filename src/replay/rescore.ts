import PQueue from 'p-queue';
import type { DumpRecord } from '../dump/dump-file.ts';
import { RolloutFault } from '../engine/faults.ts';
import type { RewardRouter, RewardTask } from '../engine/index.ts';
import type { Journal } from '../journal/journal.ts';
import { recordKey } from '../journal/record-key.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { RESCORES } from './entries.ts';
import { dataSourceOf, extraInfoOf, judgedText } from './reward-task.ts';

/** The recorded score of a rollout against the reward function's of today. Keys are those of `rescore --json`. */
export interface Rescored {
  locator: string;
  /** The function that judged it; null where none is known for its data source. */
  reward: string | null;
  recorded: number | null;
  score: number | null;
  /** same: equal within the precision of a float32; unknown: one of the two is missing. */
  status: 'same' | 'drift' | 'error' | 'unknown';
  reason: string | null;
  /** The answer that the function extracted, where it says so. */
  pred: JsonValue;
  metadata: JsonObject;
  seconds: number;
}

/** verl keeps scores as float32, and sums them. */
const EPSILON = 1e-5;

/** Scores a recorded rollout anew. Rejects only with the reason of an aborted signal. */
export async function rescoreRollout(row: DumpRecord, rewards: RewardRouter, signal?: AbortSignal): Promise<Rescored> {
  const { rollout, locator } = row;
  const begun = performance.now();
  const base = {
    locator,
    reward: null,
    recorded: rollout?.score ?? null,
    score: null,
    pred: null,
    metadata: {},
    seconds: 0,
  };
  if (rollout === null) return { ...base, status: 'error', reason: row.error };
  let found: ReturnType<RewardRouter['for']>;
  try {
    found = rewards.for(dataSourceOf(rollout));
  } catch (error) {
    return { ...base, status: 'unknown', reason: (error as Error).message };
  }
  const info = extraInfoOf(rollout);
  const task: RewardTask = {
    ground_truth: rollout.groundTruth ?? null,
    data_source: dataSourceOf(rollout),
    question: rollout.turns.slice(0, rollout.responseTurn).findLast(({ role }) => role === 'user')?.text ?? '',
    ...(isJsonObject(info) ? { extra_info: info } : {}),
    ...(isJsonObject(rollout.extras.reward_scores) ? { reward_scores: rollout.extras.reward_scores } : {}),
  };
  const seconds = () => (performance.now() - begun) / 1000;
  try {
    const { reward: score, metadata } = await found.fn(task, judgedText(rollout), signal);
    const told = { ...base, reward: found.name, pred: metadata.pred ?? null, metadata, seconds: seconds() };
    // The 0 that verl gives where a service fails is nobody's judgement.
    if (typeof metadata.error === 'string') return { ...told, status: 'error', reason: metadata.error };
    const older = olderScore(metadata);
    // The record says which version of the function made it.
    if (older !== null && rollout.score === older.score)
      return {
        ...told,
        score: older.score,
        status: 'same',
        reason: `as verl ${older.verl} scores it; since then ${score}`,
      };
    const judged = { ...told, score };
    if (rollout.score === null) return { ...judged, status: 'unknown', reason: 'the record has no score' };
    const isSame =
      Object.is(score, rollout.score) || Math.abs(score - rollout.score) <= EPSILON * Math.max(1, Math.abs(score));
    return { ...judged, status: isSame ? 'same' : 'drift', reason: null };
  } catch (error) {
    signal?.throwIfAborted();
    const isWithoutTruth = error instanceof RolloutFault && error.reason === 'no_truth';
    const status = isWithoutTruth ? 'unknown' : 'error';
    return { ...base, reward: found.name, status, reason: (error as Error).message, seconds: seconds() };
  }
}

function olderScore({ older }: JsonObject): { verl: string; score: number } | null {
  if (!isJsonObject(older) || typeof older.verl !== 'string' || typeof older.score !== 'number') return null;
  return { verl: older.verl, score: older.score };
}

/** Scores many, in their order; ends early, and quietly, when it is aborted. What was judged is in the journal before it is yielded. */
export async function* rescoreMany(
  rows: AsyncIterable<DumpRecord>,
  rewards: RewardRouter,
  { concurrency = 8, signal, journal }: { concurrency?: number; signal?: AbortSignal; journal?: Journal } = {},
): AsyncGenerator<Rescored> {
  const queue = new PQueue({ concurrency });
  const waiting: Promise<Rescored | null>[] = [];
  const start = (row: DumpRecord) =>
    queue.add(async () => {
      if (signal?.aborted) return null;
      try {
        const scored = await rescoreRollout(row, rewards, signal);
        if (journal !== undefined) keepRescore(journal, row, scored);
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

/** A score that was given anew: the keys of a journal's entry. */
export type KeptScore = Pick<Rescored, 'recorded' | 'score' | 'reward' | 'reason' | 'pred'> & { status: string };

function keepRescore(journal: Journal, { raw }: DumpRecord, scored: Rescored): void {
  const { locator, status, recorded, score, reward, reason, pred } = scored;
  if (reward !== null)
    journal.append(RESCORES, { record: recordKey(raw), locator, status, recorded, score, reward, reason, pred });
}

/** The score that a record was given last. */
export function keptRescore(journal: Journal, record: string): KeptScore | null {
  const entry = journal.known(RESCORES, record).at(-1);
  if (entry === undefined) return null;
  const { status, recorded, score, reward, reason, pred } = entry;
  return { status, recorded, score, reward, reason, pred: (pred ?? null) as JsonValue };
}
