import type { Rollout, RolloutTokens } from './rollout.ts';

/** Aggregates of the values recorded for trained tokens; null if not recorded. */
export interface TokenMeasures {
  /** The mean. */
  entropy: number | null;
  /** The least likely token. */
  logprobMin: number | null;
  /** How far the trainer's log probabilities are from the sampler's: the mean of log ratio k1 = sampled − trainer … */
  k1: number | null;
  /** … and k3 = exp(trainer − sampled) − (trainer − sampled) − 1, which is never negative (Schulman 2020). */
  k3: number | null;
  /** The share of tokens that the trainer reports as clipped. */
  clipped: number | null;
  /** Importance ratios exp(trainer − sampled): the largest, and the share of tokens outside of 1 ± `CLIP`. */
  ratioMax: number | null;
  ratioOutside: number | null;
}

/** The default clip range of PPO in most trainers. */
export const CLIP = 0.2;

const NONE: TokenMeasures = {
  entropy: null,
  logprobMin: null,
  k1: null,
  k3: null,
  clipped: null,
  ratioMax: null,
  ratioOutside: null,
};

/** Names of the trainer's log probabilities, entropies, k3 per token, and clipped tokens. */
const TRAINER = ['trainer', 'trainer_logprobs', 'train_log_probs', 'prev_logprobs', 'old_log_probs', 'log_probs'];
const ENTROPY = ['entropy', 'entropies', 'entropys'];
const MISMATCH = ['mismatch_kl'];
const CLIPPED = ['is_masked', 'is_clipped', 'clipped'];

let known: { tokens: RolloutTokens; measures: TokenMeasures } | null = null;

/** Caches the counts, because several facts ask for the same tokens in succession. */
export function tokenMeasures({ tokens }: Pick<Rollout, 'tokens'>): TokenMeasures {
  if (tokens === undefined) return NONE;
  if (known?.tokens !== tokens) known = { tokens, measures: measured(tokens) };
  return known.measures;
}

type TokenValues = readonly (number | null)[];

function measured({ mask, logprobs, more = {} }: RolloutTokens): TokenMeasures {
  const list = (names: readonly string[]): TokenValues | null => {
    const name = names.find((one) => more[one]?.length === mask.length);
    return name === undefined ? null : more[name]!;
  };
  const sampled = logprobs?.length === mask.length ? logprobs : null;
  const trainer = list(TRAINER);
  const ratios = byToken(trainer, sampled, (a, b) => Math.exp(a - b));
  return {
    entropy: maskedMean(mask, list(ENTROPY)),
    logprobMin: leastOf(mask, sampled),
    k1: maskedMean(
      mask,
      byToken(sampled, trainer, (a, b) => a - b),
    ),
    k3: maskedMean(mask, byToken(trainer, sampled, (a, b) => Math.exp(a - b) - (a - b) - 1) ?? list(MISMATCH)),
    clipped: maskedMean(mask, list(CLIPPED)),
    ratioMax: negative(leastOf(mask, mapped(ratios, negative))),
    ratioOutside: maskedMean(
      mask,
      mapped(ratios, (ratio) => (ratio === null ? null : Math.abs(ratio - 1) > CLIP ? 1 : 0)),
    ),
  };
}

const negative = (value: number | null): number | null => (value === null ? null : -value);
const mapped = (values: TokenValues | null, of: (value: number | null) => number | null): TokenValues | null =>
  values === null ? null : values.map(of);

function byToken(
  a: TokenValues | null,
  b: TokenValues | null,
  of: (a: number, b: number) => number,
): TokenValues | null {
  if (a === null || b === null) return null;
  return a.map((value, at) => {
    const other = b[at] ?? null;
    return value === null || other === null ? null : of(value, other);
  });
}

/** Over trained tokens with a finite value; null without any. */
function maskedMean(mask: readonly number[], values: TokenValues | null): number | null {
  if (values === null) return null;
  let sum = 0;
  let count = 0;
  for (let at = 0; at < mask.length; at++) {
    const value = values[at];
    if (mask[at] === 0 || value == null || !Number.isFinite(value)) continue;
    sum += value;
    count++;
  }
  return count === 0 ? null : sum / count;
}

function leastOf(mask: readonly number[], values: TokenValues | null): number | null {
  if (values === null) return null;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < mask.length; at++) {
    const value = values[at];
    if (mask[at] !== 0 && value != null && value < least) least = value;
  }
  return Number.isFinite(least) ? least : null;
}
