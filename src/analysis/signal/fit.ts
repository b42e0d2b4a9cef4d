import { type Batch, ESTIMATORS } from '../advantages/estimators.ts';
import type { ByToken, SignalRow } from './signal-row.ts';

/** Which of verl's estimators reproduce the recorded advantages. */
export interface Fit<Row = SignalRow<unknown>> {
  /** By group: the estimators that reproduce every trained token of it; empty = no known one does. */
  byGroup: Map<string, ReadonlySet<string>>;
  /** Those that fit the most groups, among groups that distinguish them, best first; empty = unknown. */
  best: string[];
  /** How many groups the best fits, out of those with recorded advantages and a spread of scores. */
  groups: number;
  fitted: number;
  /** Rows whose advantages the best estimator does not reproduce, with its value at the first token that differs. */
  others: { row: Row; token: number; recorded: number; expected: number; estimator: string }[];
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
export function fitAdvantages<Row extends SignalRow<unknown>>(rows: readonly Row[]): Fit<Row> | null {
  const known = rows.flatMap((row): KnownRow<Row>[] => {
    const { advantages, mask } = row;
    const rewards = rowOutcome(row);
    return advantages === null || mask === null || rewards === null ? [] : [{ row, advantages, mask, rewards }];
  });
  if (known.length === 0) return null;
  const batch = batchOf(known);
  const given = new Map(ESTIMATORS.map(({ name, advantages }) => [name, advantages(batch)]));
  const members = new Map<string, number[]>();
  for (const [i, { row }] of known.entries()) {
    const own = members.get(row.group);
    if (own === undefined) members.set(row.group, [i]);
    else own.push(i);
  }
  /** The first trained token whose recorded advantage is not the estimator's. */
  const differenceAt = (name: string, i: number) => {
    const one = known[i];
    const values = given.get(name)?.[i];
    if (one === undefined || values === undefined) return null;
    const { row, mask, advantages } = one;
    const token = mask.findIndex(
      (bit, t) => bit === 1 && !isNearAdvantage(advantages[t] ?? Number.NaN, values[t] ?? Number.NaN),
    );
    if (token === -1) return null;
    const [recorded = null, expected = Number.NaN] = [advantages[token], values[token]];
    return { row, token, recorded: recorded ?? Number.NaN, expected, estimator: name };
  };
  const byGroup = new Map<string, ReadonlySet<string>>();
  const counts = new Map<string, number>();
  const telling = [...members].filter(([, group]) => hasContrast(group.flatMap((i) => known[i]?.row ?? [])));
  for (const [key, group] of telling) {
    const names = [...given.keys()].filter(
      (name) => given.get(name) != null && group.every((i) => differenceAt(name, i) === null),
    );
    byGroup.set(key, new Set(names));
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const most = Math.max(0, ...counts.values());
  // Less than half of the groups could be a coincidence.
  const best = most * 2 > telling.length ? [...counts].filter(([, count]) => count === most).map(([name]) => name) : [];
  const [first] = best;
  const others =
    first === undefined ? [] : telling.flatMap(([, group]) => group.flatMap((i) => differenceAt(first, i) ?? []));
  return { byGroup, best, groups: telling.length, fitted: most, others };
}

/** A row with the inputs of a comparison. */
interface KnownRow<Row> {
  row: Row;
  advantages: ByToken;
  mask: readonly number[];
  rewards: number[];
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

function batchOf(known: readonly KnownRow<SignalRow<unknown>>[]): Batch {
  const baselines = known.flatMap(({ row }) => row.greedy ?? []);
  const values = known.flatMap(({ row }) => (row.values === null ? [] : [row.values.map((value) => value ?? 0)]));
  return {
    rewards: known.map(({ rewards }) => rewards),
    masks: known.map(({ mask }) => mask),
    groups: known.map(({ row }) => row.group),
    baselines: baselines.length === known.length ? baselines : null,
    values: values.length === known.length ? values : null,
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
