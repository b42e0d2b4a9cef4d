import { float64At, itemAt, uint32At } from '../core/lists/at.ts';
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
  // Few sets of findings occur in a dump, so each check is asked once a set.
  const { of, first } = rows.findingSets();
  const sizes = new Uint32Array(first.length);
  for (const row of members) {
    const set = uint32At(of, row);
    sizes[set] = uint32At(sizes, set) + 1;
  }
  const present = [...first.keys()].filter((set) => sizes[set] !== 0);
  const countOf = (sets: readonly number[], has: (row: number) => boolean = () => true): number =>
    sets.reduce((sum, set) => sum + (has(itemAt(first, set)) ? uint32At(sizes, set) : 0), 0);
  const read = present.filter((set) => !rows.has(itemAt(first, set), 'not_here'));
  const rollouts = read.filter((set) => !rows.has(itemAt(first, set), 'bad_record'));
  const isOwn = new Set(rollouts);
  const own = rollouts.length === present.length ? members : members.filter((row) => isOwn.has(uint32At(of, row)));
  const scores = momentsOf(rows.numbers('score'), own);
  const quantities = FACTS.filter(isQuantity);
  const counts = CHECKS.map((check): [string, number] => [check, countOf(rollouts, (row) => rows.has(row, check))]);
  return {
    rollouts: own.length,
    bad: countOf(read) - own.length,
    scored: scores.count,
    mean: scores.mean,
    deviation: scores.deviation,
    facts: new Map(quantities.map(({ name }) => [name, momentsOf(rows.numbers(name), own).mean])),
    findings: new Map(counts.filter(([, count]) => count > 0)),
    observed: new Map(CHECKS.map((check) => [check, countOf(rollouts, (row) => rows.isObserved(row, check))])),
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
