import { float64At, itemAt, numberInAt } from '../../core/lists/at.ts';

/** The rows that a trainer judged together, by token of the response. All lists of a row have the same length. */
export interface Batch {
  /** Token-level rewards; a row's outcome is their sum. */
  rewards: readonly (readonly number[])[];
  /** 1 = trained; n if the reward covers a whole response of n trained tokens. */
  masks: readonly (readonly number[])[];
  /** The prompt of each row; rows with the same prompt form a group. */
  groups: readonly (string | number)[];
  /** The critic's values, for GAE. */
  values?: readonly (readonly number[])[] | null;
  /** The score of the greedy answer to each row's prompt, for ReMax. */
  baselines?: readonly number[] | null;
}

export interface Estimator {
  /** As verl names it, with the setting that distinguishes it from its variants. */
  name: string;
  /** Rewards flow back from the token that carries them; otherwise only the sum of a row's rewards counts. */
  isRewardToGo: boolean;
  /** Its values also depend on rows of other prompts. */
  isOfBatch: boolean;
  /** Depends on how many tokens of each response are trained. */
  isByLength: boolean;
  /** @returns advantages by row and token; null if the batch lacks an input, or verl would raise */
  advantages(batch: Batch): number[][] | null;
}

/**
 * verl computes in 32 bits. If the scores of a group are nearly equal, rounding decides the value, so each step is
 * rounded as torch does it.
 */
const f32 = Math.fround;

const EPSILON = f32(1e-6);

const decimal = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value));

/**
 * REINFORCE++. Until verl's change 7300 the running return was reset to 0 at each masked token, so nothing reached the
 * turns before an observation.
 */
function plusPlus(gamma: number, isReset: boolean): Estimator {
  return {
    name: `reinforce_plus_plus gamma ${decimal(gamma)}${isReset ? ', reset at observations' : ''}`,
    isRewardToGo: true,
    isOfBatch: true,
    isByLength: true,
    advantages(batch) {
      const returnsOf = isReset ? resetReturns : discountedReturns;
      const returns = batch.masks.map((mask, row) => returnsOf(itemAt(batch.rewards, row), mask, gamma));
      return masked(whitened(returns, batch.masks), batch);
    },
  };
}

/** An estimator that gives every trained token of a row the same value, from the rewards of its group alone. */
function outcome(name: string, judge: (scores: number[], lengths: number[]) => number[] | null): Estimator {
  return {
    name,
    isRewardToGo: false,
    isOfBatch: false,
    isByLength: false,
    advantages(batch) {
      return spread(batch, byGroup(batch, judge));
    },
  };
}

/** torch.sum on a CPU: eight lanes with four rows at a time; below eight values four values at a time. */
function total(values: ArrayLike<number>): number {
  const { length } = values;
  if (length < LANES) return stridedSum(values, 0, 1, length);
  const rows = Math.floor(length / LANES);
  let sum = 0;
  for (let i = rows * LANES; i < length; i++) sum = f32(sum + f32(numberInAt(values, i)));
  for (let lane = 0; lane < LANES; lane++) sum = f32(sum + stridedSum(values, lane, LANES, rows));
  return sum;
}

const LANES = 8;
const AT_ONCE = 4;

function stridedSum(values: ArrayLike<number>, from: number, stride: number, length: number): number {
  const whole = Math.floor(length / AT_ONCE);
  let sum = 0;
  for (let part = 0; part < AT_ONCE; part++) {
    let own = cascadeSum(values, from + part * stride, stride * AT_ONCE, whole);
    if (part === 0)
      for (let i = whole * AT_ONCE; i < length; i++) own = f32(own + f32(numberInAt(values, from + i * stride)));
    sum = part === 0 ? own : f32(sum + own);
  }
  return sum;
}

/** Values are added in blocks, and blocks in blocks of blocks, so that small values are not lost in a large sum. */
const LEVELS = 4;
const SMALLEST_BLOCK = 16;

function cascadeSum(values: ArrayLike<number>, from: number, stride: number, length: number): number {
  const block = Math.max(SMALLEST_BLOCK, 2 ** Math.floor(Math.ceil(Math.log2(Math.max(1, length))) / LEVELS));
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < length; i++) {
    sums[0] = f32(numberInAt(sums, 0) + f32(numberInAt(values, from + i * stride)));
    for (let level = 1, every = block; level < LEVELS && (i + 1) % every === 0; level++, every *= block) {
      sums[level] = f32(numberInAt(sums, level) + numberInAt(sums, level - 1));
      sums[level - 1] = 0;
    }
  }
  return sums.reduce((sum, part) => f32(sum + part));
}

/** One number per row, from the numbers of its group; null if a group has none. */
function byGroup(
  { rewards, masks, groups }: Batch,
  judge: (scores: number[], lengths: number[]) => number[] | null,
): number[] | null {
  const members = new Map<string | number, number[]>();
  for (const [row, group] of groups.entries()) {
    const own = members.get(group);
    if (own === undefined) members.set(group, [row]);
    else own.push(row);
  }
  const values = groups.map(() => Number.NaN);
  for (const rows of members.values()) {
    const judged = judge(
      rows.map((row) => total(itemAt(rewards, row))),
      rows.map((row) => total(itemAt(masks, row))),
    );
    if (judged === null) return null;
    for (const [i, row] of rows.entries()) values[row] = numberInAt(judged, i);
  }
  return values;
}

const spread = ({ masks }: Batch, values: readonly number[] | null): number[][] | null =>
  values === null ? null : masks.map((mask, row) => mask.map((bit) => f32(numberInAt(values, row) * Math.min(1, bit))));

const meanOf = (scores: readonly number[]): number => (scores.length === 1 ? 0 : f32(total(scores) / scores.length));

const less = (scores: readonly number[], baseline: number): number[] => scores.map((score) => f32(score - baseline));

/**
 * torch.std of a whole tensor on a CPU: squared distances from the mean in 32 bits, summed in 64, divided by n − 1. For
 * a single value, mean 0 and deviation 1, as in verl.
 */
function deviationOf(scores: readonly number[]): number {
  if (scores.length === 1) return 1;
  const mean = meanOf(scores);
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0);
  return f32(Math.sqrt(squares / (scores.length - 1)));
}

const standardized = (scores: readonly number[], mean = meanOf(scores), deviation = deviationOf(scores)): number[] =>
  less(scores, mean).map((off) => f32(off / f32(deviation + EPSILON)));

/** torch's index_add and bincount: sequential. */
const sumInTurn = (values: readonly number[]): number => values.reduce((sum, value) => f32(sum + value), 0);

/** Mean and deviation as in verl's vectorized form, all in 32 bits. */
function standardizedVectorized(scores: readonly number[]): number[] {
  const n = scores.length;
  if (n === 1) return standardized(scores);
  const mean = f32(sumInTurn(scores) / n);
  const squares = sumInTurn(less(scores, mean).map((off) => f32(off ** 2)));
  return standardized(scores, mean, f32(Math.sqrt(f32(squares / (n - 1)))));
}

function leaveOneOut(scores: readonly number[]): number[] {
  const n = scores.length;
  if (n === 1) return [...scores];
  const baseline = f32(f32(meanOf(scores) * n) / (n - 1));
  return scores.map((score) => f32(f32(f32(score * n) / (n - 1)) - baseline));
}

function leaveOneOutVectorized(scores: readonly number[]): number[] {
  const n = scores.length;
  const sum = sumInTurn(scores);
  return scores.map((score) => (n === 1 ? 0 : f32(f32(f32(n * score) - sum) / (n - 1))));
}

/** Only the best row of a group gets an advantage: its lead over the second. verl raises for a group of one. */
function bestAlone(scores: readonly number[], isNormed: boolean): number[] | null {
  if (scores.length < 2) return null;
  // torch.topk treats NaN as the largest.
  const rank = (score: number): number => (Number.isNaN(score) ? Number.POSITIVE_INFINITY : score);
  const order = [...scores.keys()].sort((a, b) => rank(numberInAt(scores, b)) - rank(numberInAt(scores, a)) || a - b);
  const best = numberInAt(order, 0);
  const lead = f32(numberInAt(scores, best) - numberInAt(scores, numberInAt(order, 1)));
  const scale = isNormed ? f32(deviationOf(scores) + EPSILON) : 1;
  return scores.map((_, i) => (i === best ? f32(lead / scale) : 0));
}

/** Observations are skipped: the return passes over them unchanged. */
function discountedReturns(rewards: readonly number[], mask: readonly number[], gamma: number): number[] {
  const returns = mask.map(() => 0);
  let sum = 0;
  for (let t = mask.length - 1; t >= 0; t--) {
    if (mask[t] === 0) continue;
    sum = f32(numberInAt(rewards, t) + f32(f32(gamma) * sum));
    returns[t] = sum;
  }
  return returns;
}

function resetReturns(rewards: readonly number[], mask: readonly number[], gamma: number): number[] {
  const returns = mask.map(() => 0);
  let sum = 0;
  for (let t = mask.length - 1; t >= 0; t--) {
    sum = f32(numberInAt(rewards, t) + f32(f32(gamma) * sum));
    returns[t] = sum;
    sum = f32(sum * numberInAt(mask, t));
  }
  return returns;
}

/** GAE that skips observations as if they were absent. */
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
    const bit = numberInAt(mask, t);
    const delta = f32(f32(numberInAt(rewards, t) + f32(f32(gamma) * nextValue)) - f32(numberInAt(values, t)));
    const advantage = f32(delta + f32(f32(gamma * lambda) * last));
    nextValue = f32(f32(numberInAt(values, t) * bit) + f32((1 - bit) * nextValue));
    last = f32(f32(advantage * bit) + f32((1 - bit) * last));
    advantages[t] = last;
  }
  return advantages;
}

/**
 * (value − mean) / deviation over the trained tokens of all rows, with the sample deviation. verl raises if fewer than
 * two tokens are trained. Masked tokens keep the result unless the caller removes it.
 */
function whitened(values: readonly (readonly number[])[], masks: readonly (readonly number[])[]): number[][] | null {
  const weights = Float64Array.from(masks.flat());
  const count = weights.reduce((sum, weight) => sum + weight, 0);
  if (count < 2) return null;
  const all = Float32Array.from(values.flat());
  const meanBy = (of: (value: number) => number): number => {
    const weighted = all.map((value, i) => (weights[i] === 0 ? 0 : f32(of(value)) * float64At(weights, i)));
    return f32(total(weighted) / f32(count));
  };
  const mean = meanBy((value) => value);
  const squares = meanBy((value) => f32(value - mean) ** 2);
  const variance = f32(squares * f32(count / (count - 1)));
  const scale = f32(1 / f32(Math.sqrt(f32(variance + f32(1e-8)))));
  return values.map((row) => row.map((value) => f32(f32(value - mean) * scale)));
}

const masked = (values: number[][] | null, { masks }: Batch): number[][] | null =>
  values?.map((row, i) => row.map((value, t) => f32(value * Math.min(1, numberInAt(itemAt(masks, i), t))))) ?? null;

/** verl's advantage estimators. Formulas: `verl/trainer/ppo/core_algos.py`. A group of one is compared with 0. */
export const ESTIMATORS: readonly Estimator[] = [
  outcome('grpo', (scores) => standardized(scores)),
  outcome('grpo_vectorized', standardizedVectorized),
  outcome('dr_grpo', (scores) => less(scores, meanOf(scores))),
  outcome('grpo_passk', (scores) => bestAlone(scores, true)),
  outcome('grpo_passk without std', (scores) => bestAlone(scores, false)),
  outcome('rloo', leaveOneOut),
  outcome('rloo_vectorized', leaveOneOutVectorized),
  {
    ...outcome('opo', (scores, lengths) => {
      const weighted = scores.map((score, i) => f32(score * numberInAt(lengths, i)));
      return less(scores, scores.length === 1 ? 0 : f32(total(weighted) / total(lengths)));
    }),
    isByLength: true,
  },
  {
    name: 'gpg',
    isRewardToGo: false,
    isOfBatch: true,
    isByLength: false,
    advantages(batch) {
      const scores = batch.rewards.map(total);
      const alpha = f32(scores.length / Math.max(1, scores.filter((score) => score !== 0).length));
      return spread(
        batch,
        byGroup(batch, (own) => less(own, meanOf(own)).map((off) => f32(alpha * off))),
      );
    },
  },
  {
    name: 'reinforce_plus_plus_baseline',
    isRewardToGo: false,
    isOfBatch: true,
    isByLength: true,
    advantages(batch) {
      const centred = byGroup(batch, (scores) => less(scores, meanOf(scores)));
      if (centred === null) return null;
      const values = batch.masks.map((mask, i) => mask.map(() => numberInAt(centred, i)));
      return masked(whitened(values, batch.masks), batch);
    },
  },
  ...[1, 0.99, 0.9, 0.5].map((gamma) => plusPlus(gamma, false)),
  ...[1, 0.99, 0.9, 0.5].map((gamma) => plusPlus(gamma, true)),
  {
    name: 'remax',
    isRewardToGo: true,
    isOfBatch: false,
    isByLength: true,
    advantages({ rewards, masks, baselines }) {
      if (baselines == null) return null;
      return masks.map((mask, row) => {
        let sum = 0;
        const returns = mask.map(() => 0);
        for (let t = mask.length - 1; t >= 0; t--) {
          sum = f32(sum + f32(numberInAt(itemAt(rewards, row), t) * numberInAt(mask, t)));
          returns[t] = sum;
        }
        return returns.map((value, t) => f32(value - f32(f32(numberInAt(baselines, row)) * numberInAt(mask, t))));
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
      isByLength: true,
      advantages: ({ rewards, masks, values }) =>
        values == null
          ? null
          : whitened(
              masks.map((mask, row) => generalized(itemAt(rewards, row), mask, itemAt(values, row), gamma, lambda)),
              masks,
            ),
    }),
  ),
];
