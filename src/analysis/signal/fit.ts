import { type Batch, ESTIMATORS } from '../advantages/estimators.ts';
import type { SignalRow } from './signal-row.ts';

/** Which of verl's estimators reproduce the recorded advantages. */
export interface Fit {
  /** By group: the estimators that reproduce every trained token of it; empty = no known one does. */
  byGroup: Map<string, ReadonlySet<string>>;
  /** Those that fit the most groups, among groups that distinguish them, best first; empty = unknown. */
  best: string[];
  /** How many groups the best fits, out of those with recorded advantages and a spread of scores. */
  groups: number;
  fitted: number;
  /** Rows whose advantages the best estimator does not reproduce, with its value at the first token that differs. */
  others: { row: number; token: number; recorded: number; expected: number; estimator: string }[];
}

/** 32-bit precision, and the digits that a dump keeps. */
const isNearAdvantage = (a: number, b: number): boolean =>
  a === b || (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= 1e-3 * Math.max(1, Math.abs(b));

/**
 * Compares the recorded advantages with every estimator, over the rows of one step. Rows need a mask, advantages, and
 * rewards by token or a score, which is then placed on the last trained token. A group of several without spread
 * decides nothing: every estimator gives it 0, up to 32-bit rounding. For a rollout alone, estimators over the whole
 * batch (REINFORCE++, GAE) differ from those over groups, which give it its score. Returns null if no row has the
 * inputs.
 */
export function fitAdvantages(rows: readonly SignalRow<unknown>[]): Fit | null {
  const known = [...rows.keys()].filter((row) => rows[row]!.advantages !== null && rowOutcome(rows[row]!) !== null);
  if (known.length === 0) return null;
  const batch = batchOf(known.map((row) => rows[row]!));
  const given = new Map(ESTIMATORS.map(({ name, advantages }) => [name, advantages(batch)]));
  const members = new Map<string, number[]>();
  for (const [i, row] of known.entries()) {
    const { group } = rows[row]!;
    const own = members.get(group);
    if (own === undefined) members.set(group, [i]);
    else own.push(i);
  }
  const differsAt = (name: string, i: number): number => {
    const values = given.get(name);
    const { advantages, mask } = rows[known[i]!]!;
    if (values == null) return 0;
    return mask!.findIndex((bit, t) => bit === 1 && !isNearAdvantage(advantages![t] ?? Number.NaN, values[i]![t]!));
  };
  const byGroup = new Map<string, ReadonlySet<string>>();
  const counts = new Map<string, number>();
  const telling = [...members].filter(([, group]) => hasContrast(group.map((i) => rows[known[i]!]!)));
  for (const [key, group] of telling) {
    const names = [...given.keys()].filter(
      (name) => given.get(name) != null && group.every((i) => differsAt(name, i) === -1),
    );
    byGroup.set(key, new Set(names));
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const most = Math.max(0, ...counts.values());
  // Less than half of the groups could be a coincidence.
  const best = most * 2 > telling.length ? [...counts].filter(([, count]) => count === most).map(([name]) => name) : [];
  const [first] = best;
  const others =
    first === undefined
      ? []
      : telling.flatMap(([, group]) =>
          group.flatMap((i) => {
            const token = differsAt(first, i);
            if (token === -1) return [];
            const recorded = rows[known[i]!]!.advantages![token] ?? Number.NaN;
            return [{ row: known[i]!, token, recorded, expected: given.get(first)![i]![token]!, estimator: first }];
          }),
        );
  return { byGroup, best, groups: telling.length, fitted: most, others };
}

/**
 * Rewards by token: the recorded ones, else the score on the last trained token. null if there is neither, or no mask.
 */
function rowOutcome({ rewards, mask, score }: SignalRow<unknown>): number[] | null {
  if (mask === null || mask.length === 0) return null;
  if (rewards !== null) return rewards.map((value) => value ?? 0);
  if (score === null) return null;
  const last = mask.lastIndexOf(1);
  return mask.map((_, t) => (t === (last === -1 ? mask.length - 1 : last) ? score : 0));
}

function batchOf(rows: readonly SignalRow<unknown>[]): Batch {
  const hasValues = rows.every(({ values }) => values !== null);
  return {
    rewards: rows.map((row) => rowOutcome(row)!),
    masks: rows.map(({ mask }) => mask!),
    groups: rows.map(({ group }) => group),
    baselines: rows.every(({ greedy }) => greedy !== null) ? rows.map(({ greedy }) => greedy!) : null,
    values: hasValues ? rows.map(({ values }) => values!.map((value) => value ?? 0)) : null,
  };
}

/** Scores closer than this are equal except for rounding, which differs between machines. */
const LEAST_SPREAD = 1e-5;

function hasContrast(rows: readonly SignalRow<unknown>[]): boolean {
  const scores = rows.map(totalOf);
  if (!scores.every(Number.isFinite)) return false;
  if (scores.length === 1) return true;
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  return most - least > LEAST_SPREAD * Math.max(1, Math.abs(least), Math.abs(most));
}

/**
 * The value that an outcome estimator sees for a row: the sum of its rewards by token, including masked ones, else its
 * score. NaN if neither is known.
 */
export function totalOf({ rewards, score }: SignalRow<unknown>): number {
  if (rewards === null) return score ?? Number.NaN;
  return rewards.reduce((sum: number, value) => sum + (value ?? 0), 0);
}
