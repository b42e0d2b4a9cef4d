import { float64At } from '../core/lists/at.ts';
import { CHECKS } from '../core/rollout/checks.ts';
import { FACTS, isQuantity } from '../core/rollout/facts.ts';
import type { FactRows } from './facts/fact-rows.ts';

/** A summary of the rollouts of one step, or of one value of another key. */
export interface SummaryRow {
  rollouts: number;
  /** Records that are not rollouts; excluded from all other figures, as are files that are not here yet. */
  bad: number;
  /** Rollouts with a finite score, and its mean and standard deviation (of the population) over them; null without any. */
  scored: number;
  mean: number | null;
  deviation: number | null;
  /** Mean of each fact over the rollouts that have it, or null. Facts that are not quantities have no mean. */
  facts: ReadonlyMap<string, number | null>;
  /** How many rollouts have each finding, without zero counts. */
  findings: ReadonlyMap<string, number>;
  /** How many rollouts had the input of each check: the denominator of its rate. */
  observed: ReadonlyMap<string, number>;
}

/** Sums up some of the rows. */
export function summarise(rows: FactRows, members: readonly number[]): SummaryRow {
  const read = members.filter((row) => !rows.has(row, 'not_here'));
  const own = read.filter((row) => !rows.has(row, 'bad_record'));
  const scores = momentsOf(rows.numbers('score'), own);
  const quantities = FACTS.filter(isQuantity);
  const counts = CHECKS.map((check): [string, number] => [check, own.filter((row) => rows.has(row, check)).length]);
  return {
    rollouts: own.length,
    bad: read.length - own.length,
    scored: scores.count,
    mean: scores.mean,
    deviation: scores.deviation,
    facts: new Map(quantities.map(({ name }) => [name, momentsOf(rows.numbers(name), own).mean])),
    findings: new Map(counts.filter(([, count]) => count > 0)),
    observed: new Map(CHECKS.map((check) => [check, own.filter((row) => rows.isObserved(row, check)).length])),
  };
}

interface Moments {
  count: number;
  mean: number | null;
  deviation: number | null;
}

/** Statistics of the finite values; Welford's algorithm, so that a million scores lose no digits. */
export function momentsOf(values: Float64Array, members: Iterable<number>): Moments {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (const row of members) {
    const value = float64At(values, row);
    if (!Number.isFinite(value)) continue;
    count++;
    const off = value - mean;
    mean += off / count;
    squares += off * (value - mean);
  }
  return count === 0
    ? { count, mean: null, deviation: null }
    : { count, mean, deviation: Math.sqrt(Math.max(0, squares) / count) };
}
