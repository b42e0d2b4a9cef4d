import { numberInAt } from '../../core/lists/at.ts';

/**
 * Whether the scores of a group carry a learning signal. none: all are equal, so every advantage is 0; outlier: all but
 * one are equal, and that one carries the whole signal; unknown: fewer than two have a score.
 */
const SIGNALS = ['yes', 'outlier', 'none', 'unknown'] as const;
type Signal = (typeof SIGNALS)[number];

/** Statistics of the scores of one prompt. Missing and non-finite scores are excluded. */
export interface GroupStats {
  n: number;
  scored: number;
  mean: number | null;
  /** The deviation with n - 1, as in GRPO. */
  spread: number | null;
  best: number | null;
  worst: number | null;
  /** How many reach the threshold for solved. */
  passed: number;
  signal: Signal;
}

/** A score of at least this counts as solved, unless the user sets another threshold. */
export const PASS = 0.5;

/** @param scores NaN where missing; the first `n` belong to the group */
export function groupStats(scores: ArrayLike<number>, pass = PASS, n = scores.length): GroupStats {
  let scored = 0;
  let mean = 0;
  let squares = 0;
  let best = Number.NEGATIVE_INFINITY;
  let worst = Number.POSITIVE_INFINITY;
  let passed = 0;
  for (let i = 0; i < n; i++) {
    // Adding 0 turns -0 into 0, so that no table shows -0.
    const score = numberInAt(scores, i) + 0;
    if (!Number.isFinite(score)) continue;
    scored++;
    const off = score - mean;
    mean += off / scored;
    squares += off * (score - mean);
    if (score > best) best = score;
    if (score < worst) worst = score;
    if (score >= pass) passed++;
  }
  const isKnown = scored > 0;
  return {
    n,
    scored,
    mean: isKnown ? mean : null,
    spread: scored > 1 ? Math.sqrt(squares / (scored - 1)) : null,
    best: isKnown ? best : null,
    worst: isKnown ? worst : null,
    passed,
    signal:
      scored < 2 ? 'unknown' : best === worst ? 'none' : isOneOut(scores, n, scored, best, worst) ? 'outlier' : 'yes',
  };
}

/** All scores but one are equal. With two scores neither is the outlier. */
function isOneOut(scores: ArrayLike<number>, n: number, scored: number, best: number, worst: number): boolean {
  if (scored < 3) return false;
  let atBest = 0;
  let atWorst = 0;
  for (let i = 0; i < n; i++) {
    if (scores[i] === best) atBest++;
    else if (scores[i] === worst) atWorst++;
  }
  return atBest + atWorst === scored && Math.min(atBest, atWorst) === 1;
}

/**
 * pass@k: the unbiased chance that one of k answers is right, from n answers with c right (Chen et al. 2021); null if n
 * is below k.
 */
export function passChance(n: number, c: number, k: number): number | null {
  if (n < k || k < 1) return null;
  if (n - c < k) return 1;
  let none = 1;
  for (let i = n - c + 1; i <= n; i++) none *= 1 - k / i;
  return 1 - none;
}
