/** The rows that a trainer judged together, by token of the response. Lists of one row have one length. */
export interface Batch {
  /** Token-level rewards; a row's outcome is their sum. */
  rewards: readonly (readonly number[])[];
  /** 1 = trained. */
  masks: readonly (readonly number[])[];
  /** The prompt of each row; rows of one prompt are a group. */
  groups: readonly (string | number)[];
  /** The critic's values, for GAE. */
  values?: readonly (readonly number[])[] | null;
  /** The score of the greedy answer to each row's prompt, for ReMax. */
  baselines?: readonly number[] | null;
}

export interface Estimator {
  /** In verl's words, with the setting that tells it from its like. */
  name: string;
  /** Rewards flow back from the token that they stand on; where not, a row's rewards count as their sum. */
  isRewardToGo: boolean;
  /** Its values depend on rows of other prompts too. */
  isOfBatch: boolean;
  /** @returns advantages by row and token; null where the batch has not what it needs, or verl would raise */
  advantages(batch: Batch): number[][] | null;
}

const EPSILON = 1e-6;

const decimal = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

/** REINFORCE++. Until verl's change 7300 the running return was set to 0 at each masked token, so that nothing reached the turns before an observation. */
function plusPlus(gamma: number, isReset: boolean): Estimator {
  return {
    name: `reinforce_plus_plus gamma ${decimal(gamma)}${isReset ? ', reset at observations' : ''}`,
    isRewardToGo: true,
    isOfBatch: true,
    advantages(batch) {
      const returnsOf = isReset ? resetReturns : discountedReturns;
      const returns = batch.masks.map((mask, row) => returnsOf(batch.rewards[row]!, mask, gamma));
      return masked(whitened(returns, batch.masks), batch);
    },
  };
}

/** An estimator that gives each trained token of a row the same, by the rewards of its group alone. */
function outcome(name: string, judge: (scores: number[], lengths: number[]) => number[] | null): Estimator {
  return {
    name,
    isRewardToGo: false,
    isOfBatch: false,
    advantages(batch) {
      const scores = byGroup(batch, judge);
      return scores.includes(undefined) ? null : spread(batch, scores);
    },
  };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** One number a row from those of its group. */
function byGroup(
  { rewards, masks, groups }: Batch,
  judge: (scores: number[], lengths: number[]) => number[] | null,
): (number | undefined)[] {
  const members = new Map<string | number, number[]>();
  for (const [row, group] of groups.entries()) members.set(group, [...(members.get(group) ?? []), row]);
  const values: (number | undefined)[] = groups.map(() => undefined);
  for (const rows of members.values()) {
    const judged = judge(
      rows.map((row) => sumOf(rewards[row]!)),
      rows.map((row) => sumOf(masks[row]!)),
    );
    if (judged !== null) for (const [i, row] of rows.entries()) values[row] = judged[i]!;
  }
  return values;
}

const spread = ({ masks }: Batch, values: readonly (number | undefined)[]): number[][] =>
  masks.map((mask, row) => mask.map((bit) => values[row]! * bit));

/** Of one alone the mean is 0 and the deviation 1, as verl has it. The deviation is that of a sample (n − 1). */
function momentsOf(scores: readonly number[]): { mean: number; deviation: number } {
  if (scores.length === 1) return { mean: 0, deviation: 1 };
  const mean = sumOf(scores) / scores.length;
  return { mean, deviation: Math.sqrt(sumOf(scores.map((score) => (score - mean) ** 2)) / (scores.length - 1)) };
}

function standardized(scores: readonly number[]): number[] {
  const { mean, deviation } = momentsOf(scores);
  return scores.map((score) => (score - mean) / (deviation + EPSILON));
}

function leaveOneOut(scores: readonly number[]): number[] {
  const n = scores.length;
  const { mean } = momentsOf(scores);
  return scores.map((score) => (n === 1 ? score : (n / (n - 1)) * (score - mean)));
}

/** Only the best of a group is told to be better, by how far it is ahead of the second. verl raises for a group of one. */
function bestAlone(scores: readonly number[], isNormed: boolean): number[] | null {
  if (scores.length < 2) return null;
  // torch.topk takes NaN for the largest.
  const rank = (score: number): number => (Number.isNaN(score) ? Number.POSITIVE_INFINITY : score);
  const order = [...scores.keys()].sort((a, b) => rank(scores[b]!) - rank(scores[a]!) || a - b);
  const best = order[0]!;
  const [first, second] = [scores[best]!, scores[order[1]!]!];
  const scale = isNormed ? momentsOf(scores).deviation + EPSILON : 1;
  return scores.map((_, i) => (i === best ? (first - second) / scale : 0));
}

/** Observations are skipped: the return goes over them unchanged. */
function discountedReturns(rewards: readonly number[], mask: readonly number[], gamma: number): number[] {
  const returns = mask.map(() => 0);
  let sum = 0;
  for (let t = mask.length - 1; t >= 0; t--) {
    if (mask[t] === 0) continue;
    sum = rewards[t]! + gamma * sum;
    returns[t] = sum;
  }
  return returns;
}

function resetReturns(rewards: readonly number[], mask: readonly number[], gamma: number): number[] {
  const returns = mask.map(() => 0);
  let sum = 0;
  for (let t = mask.length - 1; t >= 0; t--) {
    sum = rewards[t]! + gamma * sum;
    returns[t] = sum;
    sum *= mask[t]!;
  }
  return returns;
}

/** GAE that goes over observations as if they were not there. */
function generalized(
  rewards: readonly number[],
  mask: readonly number[],
  values: readonly number[],
  gamma: number,
  lambda: number,
): number[] {
  const advantages = mask.map(() => 0);
  let nextValue = 0;
  let last = 0;
  for (let t = mask.length - 1; t >= 0; t--) {
    const bit = mask[t]!;
    const delta = rewards[t]! + gamma * nextValue - values[t]!;
    const advantage = delta + gamma * lambda * last;
    nextValue = values[t]! * bit + (1 - bit) * nextValue;
    last = advantage * bit + (1 - bit) * last;
    advantages[t] = last;
  }
  return advantages;
}

/**
 * (value − mean) / deviation over the trained tokens of all rows, the deviation that of a sample. verl raises where fewer than two tokens are
 * trained. Masked tokens keep what comes out, unless their caller takes it away.
 */
function whitened(values: readonly (readonly number[])[], masks: readonly (readonly number[])[]): number[][] | null {
  const trained = values.flatMap((row, i) => row.filter((_, t) => masks[i]![t] === 1));
  if (trained.length < 2) return null;
  const mean = sumOf(trained) / trained.length;
  const variance = sumOf(trained.map((value) => (value - mean) ** 2)) / (trained.length - 1);
  const scale = 1 / Math.sqrt(variance + 1e-8);
  return values.map((row) => row.map((value) => (value - mean) * scale));
}

const masked = (values: number[][] | null, { masks }: Batch): number[][] | null =>
  values?.map((row, i) => row.map((value, t) => value * masks[i]![t]!)) ?? null;

/**
 * verl's estimators of advantages. Formulas: `verl/trainer/ppo/core_algos.py`, there in 32-bit floats. A group of one is judged against 0.
 */
export const ESTIMATORS: readonly Estimator[] = [
  outcome('grpo', standardized),
  // The same by another way of summing.
  outcome('grpo_vectorized', standardized),
  outcome('dr_grpo', (scores) => scores.map((score) => score - momentsOf(scores).mean)),
  outcome('grpo_passk', (scores) => bestAlone(scores, true)),
  outcome('grpo_passk without std', (scores) => bestAlone(scores, false)),
  outcome('rloo', leaveOneOut),
  outcome('rloo_vectorized', (scores) => (scores.length === 1 ? [0] : leaveOneOut(scores))),
  outcome('opo', (scores, lengths) => {
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const baseline = scores.length === 1 ? 0 : scores.reduce((sum, score, i) => sum + score * lengths[i]!, 0) / total;
    return scores.map((score) => score - baseline);
  }),
  {
    name: 'gpg',
    isRewardToGo: false,
    isOfBatch: true,
    advantages(batch) {
      const scores = batch.rewards.map(sumOf);
      const alpha = scores.length / Math.max(1, scores.filter((score) => score !== 0).length);
      return spread(
        batch,
        byGroup(batch, (own) => own.map((score) => alpha * (score - momentsOf(own).mean))),
      );
    },
  },
  {
    name: 'reinforce_plus_plus_baseline',
    isRewardToGo: false,
    isOfBatch: true,
    advantages(batch) {
      const centred = byGroup(batch, (scores) => scores.map((score) => score - momentsOf(scores).mean));
      const values = batch.masks.map((mask, i) => mask.map(() => centred[i]!));
      return masked(whitened(values, batch.masks), batch);
    },
  },
  ...[1, 0.99, 0.9, 0.5].map((gamma) => plusPlus(gamma, false)),
  ...[1, 0.99, 0.9, 0.5].map((gamma) => plusPlus(gamma, true)),
  {
    name: 'remax',
    isRewardToGo: true,
    isOfBatch: false,
    advantages({ rewards, masks, baselines }) {
      if (baselines == null) return null;
      return masks.map((mask, row) => {
        let sum = 0;
        const returns = mask.map(() => 0);
        for (let t = mask.length - 1; t >= 0; t--) {
          sum += rewards[row]![t]! * mask[t]!;
          returns[t] = sum;
        }
        return returns.map((value, t) => value - baselines[row]! * mask[t]!);
      });
    },
  },
  ...[
    { gamma: 1, lambda: 1 },
    { gamma: 0.99, lambda: 0.95 },
    { gamma: 1, lambda: 0.95 },
  ].map(
    ({ gamma, lambda }): Estimator => ({
      name: `gae gamma ${decimal(gamma)} lam ${decimal(lambda)}`,
      isRewardToGo: true,
      isOfBatch: true,
      advantages: ({ rewards, masks, values }) =>
        values == null
          ? null
          : whitened(
              masks.map((mask, row) => generalized(rewards[row]!, mask, values[row]!, gamma, lambda)),
              masks,
            ),
    }),
  ),
];
