import { float64At, itemAt } from '../../core/lists/at.ts';
import type { SaidText, TextRow } from './phrases.ts';

/** Words that appeared at some step and stayed. */
export interface PhraseMovement {
  /** As written, except for numbers. */
  phrase: string;
  by: keyof SaidText;
  /** The index in the timeline from which they appear. */
  at: number;
  /** The share that has them, among rollouts with similar scores. */
  before: number;
  after: number;
  /**
   * Of the rollouts with it after the change, the share that scored above the mean of their group; NaN if none can be
   * compared.
   */
  lift: number;
  /** The index in the timeline at which they begin, and at which their growth ends: the same where they came at once. */
  since: number;
  until: number;
  /** The logarithm of its p value, corrected for the phrases and places tested. */
  logP: number;
  /** The rollouts that have it from its beginning on, and those that had it before. */
  rows: readonly number[];
  earlier: readonly number[];
}

/** A movement and all rollouts that have its phrase, before and after its change. */
export interface PhraseCandidate extends PhraseMovement {
  holders: ReadonlySet<number>;
}

export const FEWEST_ROWS = 4;

/** Phrases that chance explains as well as this are nobody's business. */
export const WORTH = Math.log(1e-3);

/** The number of units at each place. A unit is a group, or a rollout without one. */
export function unitsOf(rows: readonly TextRow[], places: number): Float64Array {
  const seen = new Set<number>();
  const units = new Float64Array(places);
  for (const { at, group } of rows) {
    if (group >= 0 && seen.has(group)) continue;
    if (group >= 0) seen.add(group);
    units[at] = float64At(units, at) + 1;
  }
  return units;
}

/**
 * The split that best separates rare from common (the largest likelihood ratio), if the phrase becomes more frequent
 * and stays.
 */
export function bestSplit(own: readonly number[], rows: readonly TextRow[], units: Float64Array, places: number) {
  const having = unitsOf(
    own.map((i) => itemAt(rows, i)),
    places,
  );
  const all = units.reduce((sum, one) => sum + one, 0);
  const some = having.reduce((sum, one) => sum + one, 0);
  let best: { at: number; logP: number; before: number; after: number } | null = null;
  let [beforeAll, before] = [0, 0];
  for (let at = 1; at < places; at++) {
    beforeAll += float64At(units, at - 1);
    before += float64At(having, at - 1);
    const [afterAll, after] = [all - beforeAll, some - before];
    if (beforeAll < FEWEST_ROWS || afterAll < FEWEST_ROWS || after < FEWEST_ROWS) continue;
    const [low, high] = [before / beforeAll, after / afterAll];
    if (high <= low * 2) continue;
    const gain = likelihood(before, beforeAll) + likelihood(after, afterAll) - likelihood(some, all);
    // Wilks: twice the gain is a chi square of one degree; its tail is about exp(-gain).
    if (best === null || -gain < best.logP) best = { at, logP: -gain, before: low, after: high };
  }
  return best;
}

const likelihood = (k: number, n: number): number =>
  k === 0 || k === n ? 0 : k * Math.log(k / n) + (n - k) * Math.log(1 - k / n);
