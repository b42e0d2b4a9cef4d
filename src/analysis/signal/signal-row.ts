import { itemAt } from '../../core/lists/at.ts';
import { type GroupKey, groupKeyOf, settleGroups, uidParts } from '../../core/rollout/group-key.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';

/** Numbers by token of the response; null if the trainer gave none. */
export type ByToken = readonly (number | null)[];

/** The recorded part of one rollout that the gradient could see. Lists have one entry per token of the response. */
export interface SignalRow<At> {
  at: At;
  uid: string | null;
  key: GroupKey;
  /** Known once all rows of a step are; see `inGroups`. */
  group: string;
  isGroupRecorded: boolean;
  /**
   * One output of a session, from verl's `uid` since 2026-04 (`{prompt}_{session}_{output}`): the last output of a
   * session is judged, and the others get its advantage. null if the record does not say.
   */
  session: { name: string; output: number } | null;
  requestId: string | null;
  score: number | null;
  /** 1 = trained; null if no mask was recorded. */
  mask: readonly number[] | null;
  rewards: ByToken | null;
  /** The scores by token, if they differ from the rewards (which include a KL penalty). */
  tokenScores: ByToken | null;
  advantages: ByToken | null;
  returns: ByToken | null;
  values: ByToken | null;
  /** The score of the greedy answer to the same prompt, which ReMax subtracts. */
  greedy: number | null;
  /** Log probabilities of the sampler and of the trainer. */
  sampled: ByToken | null;
  trainer: ByToken | null;
  ids: readonly number[] | null;
  /** The estimator named in the record. */
  estimator: string | null;
  /** The response has no text. */
  isEmpty: boolean;
  /** Runs of response turns by the model and by others, each with its first turn. */
  turnRuns: { isModel: boolean; turn: number }[];
  /** Trained tokens (characters if there are no tokens) by role of the writer. */
  trainedBy: ReadonlyMap<string, number>;
  /** Trained characters by kind of history. */
  trainedIn: ReadonlyMap<string, number>;
  /** The unit that `trainedBy` counts. */
  unit: 'tokens' | 'characters';
}

const REWARDS = ['token_level_rewards', 'rewards', 'token_rewards'];
const SCORES = ['token_level_scores', 'rm_scores'];
const TRAINER = ['old_log_probs', 'trainer_logprobs', 'prev_logprobs', 'train_log_probs', 'log_probs'];
const GREEDY = ['reward_baselines', 'reward_baseline'];
const ESTIMATOR = ['adv_estimator', 'estimator', 'advantage_estimator'];

/** null for a rollout that is not trained on. */
export function signalRow<At>(rollout: Rollout, at: At): SignalRow<At> | null {
  if (rollout.validation) return null;
  const { tokens, rewards, extras, turns, responseTurn, uid } = rollout;
  const more = tokens?.more ?? {};
  const named = (names: readonly string[]): ByToken | null => {
    const name = names.find((one) => more[one] !== undefined);
    return name === undefined ? null : more[name]!;
  };
  const mask = tokens?.mask ?? null;
  const key = groupKeyOf(rollout);
  const estimator = ESTIMATOR.map((name) => extras[name]).find((value) => typeof value === 'string');
  const scores = named(SCORES);
  return {
    at,
    uid,
    key,
    group: key.key,
    isGroupRecorded: key.from === 'uid',
    session: uidParts(uid),
    requestId: rollout.requestId,
    score: rollout.score,
    mask,
    rewards: named(REWARDS) ?? scores,
    tokenScores: scores,
    advantages: named(['advantages', 'advantage']) ?? constant(mask, rewards.advantage),
    returns: named(['returns']),
    values: named(['values']),
    greedy: GREEDY.map((name) => extras[name]).find((value) => typeof value === 'number') ?? null,
    sampled: tokens?.logprobs ?? null,
    trainer: named(TRAINER),
    ids: tokens?.responseIds.every((id) => id >= 0) ? tokens.responseIds : null,
    estimator: estimator ?? null,
    isEmpty: turns.slice(responseTurn).every(({ text }) => text === ''),
    turnRuns: turnRuns(rollout),
    trainedIn: trainedIn(rollout),
    ...trainedBy(rollout),
  };
}

/** Rows of one step with their groups; one without a group is alone. */
export const inGroups = <At>(rows: readonly SignalRow<At>[]): SignalRow<At>[] =>
  settleGroups(rows.map(({ key }) => key)).map((key, at) => ({
    ...itemAt(rows, at),
    group: key?.key ?? `row ${at}`,
    isGroupRecorded: key?.from === 'uid',
  }));

/** One number for the whole rollout, repeated on its trained tokens. */
const constant = (mask: readonly number[] | null, value: number | null): ByToken | null =>
  mask === null || value === null ? null : mask.map((bit) => bit * value);

function turnRuns({ turns, responseTurn }: Rollout): SignalRow<unknown>['turnRuns'] {
  const runs: SignalRow<unknown>['turnRuns'] = [];
  for (const { role, index } of turns.slice(responseTurn)) {
    const isModel = role === 'assistant';
    if (runs.at(-1)?.isModel !== isModel) runs.push({ isModel, turn: index });
  }
  return runs;
}

/** The turn of a response token, if the runs of the mask correspond to the turns; else null. */
export function turnOfToken({ mask, turnRuns: runs }: SignalRow<unknown>, token: number): number | null {
  if (mask === null) return null;
  let run = -1;
  let found: number | null = null;
  for (const [t, bit] of mask.entries()) {
    if (t === 0 || bit !== mask[t - 1]) run++;
    if (runs[run]?.isModel !== (bit === 1)) return null;
    if (t === token) found = itemAt(runs, run).turn;
  }
  return run === runs.length - 1 ? found : null;
}

function trainedIn({ spans, turns, contexts }: Rollout): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { trained, turn, start, end } of spans) {
    if (trained !== true) continue;
    const kind = contexts?.[turns[turn]?.context ?? 0]?.kind ?? 'main';
    counts.set(kind, (counts.get(kind) ?? 0) + end - start);
  }
  return counts;
}

/** Tokens if the token mask can be split by turns, else characters of text known to be trained. */
function trainedBy({ spans, turns, lossMask }: Rollout): Pick<SignalRow<unknown>, 'trainedBy' | 'unit'> {
  const counts = new Map<string, number>();
  let total = 0;
  for (const { trained, turn, start, end } of spans) {
    if (trained !== true) continue;
    const role = turns[turn]?.role ?? 'unknown';
    counts.set(role, (counts.get(role) ?? 0) + end - start);
    total += end - start;
  }
  const tokens = lossMask?.trainedTokens ?? null;
  if (tokens === null) return { trainedBy: counts, unit: 'characters' };
  if (counts.size === 1) return { trainedBy: new Map([[itemAt([...counts.keys()], 0), tokens]]), unit: 'tokens' };
  if (total === 0) return { trainedBy: new Map(tokens === 0 ? [] : [['unknown', tokens]]), unit: 'tokens' };
  // Text of several roles is trained: without a tokenizer, tokens are divided by characters.
  return {
    trainedBy: new Map([...counts].map(([role, count]) => [role, Math.round((tokens * count) / total)])),
    unit: 'tokens',
  };
}
