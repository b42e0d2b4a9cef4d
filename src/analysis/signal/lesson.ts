import { itemAt, numberInAt } from '../../core/lists/at.ts';
import { CLIP } from '../../core/rollout/token-measures.ts';
import type { Fit } from './fit.ts';
import { totalOf } from './fit.ts';
import type { SignalRow } from './signal-row.ts';

/** The origin of a step's gradient. */
export interface Lesson {
  rollouts: number;
  /** Trained tokens (characters if no token mask is recorded) by role of the writer. */
  trainedBy: ReadonlyMap<string, number>;
  unit: 'tokens' | 'characters';
  /** recorded; recomputed = GRPO's formula over the scores of the groups; null = neither is available. */
  advantages: 'recorded' | 'recomputed' | null;
  /** Rollouts with a known advantage; those with 0 teach nothing. */
  known: number;
  zero: number;
  /** The rows with the most weight, heaviest first: their share of the sum of |advantage| over all trained tokens. */
  heaviest: { row: number; share: number; advantage: number; trained: number }[];
  /** The share of all weight in the loss, by role of the writer and by kind of history; null if no weight is known. */
  lossBy: { roles: ReadonlyMap<string, number>; contexts: ReadonlyMap<string, number> } | null;
  /** How far the trained policy is from the sampling policy, if both log probabilities are recorded. */
  ratio: Ratio | null;
}

interface Ratio {
  tokens: number;
  /** exp(trainer − sampled), over the trained tokens. */
  mean: number;
  max: number;
  /** The share of tokens with a ratio outside 1 ± `CLIP`. */
  outside: number;
  /** Schulman's k3 estimate of KL(sampled ‖ trainer) by token: ratio − 1 − log ratio. */
  kl: number;
}

const HEAVIEST = 10;

export function lessonOf(rows: readonly SignalRow<unknown>[], fit: Fit | null): Lesson {
  const isRecorded = fit !== null || rows.some(({ advantages }) => advantages !== null);
  const weights = isRecorded ? rows.map(recordedWeight) : recomputed(rows);
  const known = weights.filter((weight) => weight !== null);
  const sum = known.reduce((all, { weight }) => all + weight, 0);
  const heaviest = weights
    .flatMap((one, row) => (one === null || one.weight === 0 ? [] : [{ row, ...one, share: one.weight / sum }]))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, HEAVIEST)
    .map(({ row, share, advantage, trained }) => ({ row, share, advantage, trained }));
  const trainedBy = new Map<string, number>();
  const unit = rows.every((row) => row.unit === 'tokens') ? 'tokens' : 'characters';
  for (const row of rows)
    if (row.unit === unit)
      for (const [role, count] of row.trainedBy) trainedBy.set(role, (trainedBy.get(role) ?? 0) + count);
  return {
    rollouts: rows.length,
    trainedBy,
    unit,
    advantages: known.length === 0 ? null : isRecorded ? 'recorded' : 'recomputed',
    known: known.length,
    zero: known.filter(({ weight }) => weight === 0).length,
    heaviest,
    lossBy:
      sum === 0 ? null : { roles: shares(rows, weights, 'trainedBy'), contexts: shares(rows, weights, 'trainedIn') },
    ratio: ratioOf(rows),
  };
}

/** Within a rollout each trained token has the same weight, because not every token can be attributed. */
function shares(
  rows: readonly SignalRow<unknown>[],
  weights: readonly (Weight | null)[],
  by: 'trainedBy' | 'trainedIn',
): Map<string, number> {
  const sums = new Map<string, number>();
  let all = 0;
  for (const [row, weight] of weights.entries()) {
    if (weight === null || weight.weight === 0) continue;
    const counts = itemAt(rows, row)[by];
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    all += weight.weight;
    if (total === 0) sums.set('unknown', (sums.get('unknown') ?? 0) + weight.weight);
    for (const [name, count] of counts)
      if (count > 0) sums.set(name, (sums.get(name) ?? 0) + (weight.weight * count) / total);
  }
  return new Map([...sums].map(([name, sum]) => [name, sum / all]));
}

interface Weight {
  weight: number;
  /** The mean over the trained tokens. */
  advantage: number;
  trained: number;
}

function recordedWeight({ advantages, mask }: SignalRow<unknown>): Weight | null {
  if (advantages === null || mask === null || advantages.length !== mask.length) return null;
  let [weight, sum, trained] = [0, 0, 0];
  for (const [t, bit] of mask.entries()) {
    const value = advantages[t];
    if (bit === 0 || typeof value !== 'number' || !Number.isFinite(value)) continue;
    weight += Math.abs(value);
    sum += value;
    trained++;
  }
  return { weight, advantage: trained === 0 ? 0 : sum / trained, trained };
}

/** GRPO over the scores of each group of two or more; untrained rows have no weight. */
function recomputed(rows: readonly SignalRow<unknown>[]): (Weight | null)[] {
  const groups = new Map<string, number[]>();
  for (const [at, { group }] of rows.entries()) {
    const own = groups.get(group);
    if (own === undefined) groups.set(group, [at]);
    else own.push(at);
  }
  const weights: (Weight | null)[] = rows.map(() => null);
  for (const own of groups.values()) {
    const totals = own.map((at) => totalOf(itemAt(rows, at)));
    if (own.length < 2 || !totals.every(Number.isFinite)) continue;
    const mean = totals.reduce((sum, total) => sum + total, 0) / own.length;
    const deviation = Math.sqrt(totals.reduce((sum, total) => sum + (total - mean) ** 2, 0) / (own.length - 1));
    for (const [i, at] of own.entries()) {
      const trained = [...itemAt(rows, at).trainedBy.values()].reduce((sum, count) => sum + count, 0);
      const advantage = deviation === 0 ? 0 : (numberInAt(totals, i) - mean) / (deviation + 1e-6);
      weights[at] = { weight: Math.abs(advantage) * trained, advantage, trained };
    }
  }
  return weights;
}

function ratioOf(rows: readonly SignalRow<unknown>[]): Ratio | null {
  let [tokens, sum, max, outside, kl] = [0, 0, 0, 0, 0];
  for (const { mask, sampled, trainer } of rows) {
    if (mask === null || sampled === null || trainer === null) continue;
    for (const [t, bit] of mask.entries()) {
      const [a, b] = [sampled[t], trainer[t]];
      if (bit === 0 || typeof a !== 'number' || typeof b !== 'number' || !Number.isFinite(a - b)) continue;
      const ratio = Math.exp(b - a);
      tokens++;
      sum += ratio;
      max = Math.max(max, ratio);
      if (Math.abs(ratio - 1) > CLIP) outside++;
      kl += ratio - 1 - (b - a);
    }
  }
  return tokens === 0 ? null : { tokens, mean: sum / tokens, max, outside: outside / tokens, kl: kl / tokens };
}
