import { float64At } from '../../core/lists/at.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { compareValues, type SortValue } from '../query/sort.ts';
import { momentsOf } from '../summary.ts';

/**
 * Rollouts of one stream that share a value of a key, such as the step. Validation and training are never averaged
 * together.
 */
export interface Bucket {
  stream: string;
  /** null: they have no value. */
  value: SortValue;
  members: number[];
}

/** Streams by name, with their values in order; a step that was written twice is one bucket. */
export function bucketsOf(rows: FactRows, key: string, descending = false): Bucket[] {
  const [streams, words, numbers] = [rows.words('stream'), rows.words(key), rows.numbers(key)];
  const buckets = new Map<string | null, Map<SortValue, Bucket>>();
  for (let row = 0; row < rows.length; row++) {
    const stream = streams[row] ?? '';
    const value = words[row] ?? (Number.isNaN(numbers[row]) ? null : float64At(numbers, row));
    let own = buckets.get(stream);
    if (own === undefined) {
      own = new Map();
      buckets.set(stream, own);
    }
    const known = own.get(value);
    if (known === undefined) own.set(value, { stream, value, members: [row] });
    else known.members.push(row);
  }
  return [...buckets.values()]
    .flatMap((own) => [...own.values()])
    .sort((a, b) =>
      a.stream === b.stream ? compareValues(a.value, b.value, descending) : a.stream < b.stream ? -1 : 1,
    );
}

/** The distribution of a number over some rollouts. NaN and infinite values are excluded. */
export interface NumberSpread {
  /** Those with a finite value. */
  count: number;
  unknown: number;
  mean: number | null;
  /** The deviation of the population. */
  deviation: number | null;
  least: number | null;
  median: number | null;
  most: number | null;
}

export function numberSpread(values: Float64Array, members: readonly number[]): NumberSpread {
  const { count, mean, deviation } = momentsOf(values, members);
  const unknown = members.length - count;
  if (count === 0) return { count, unknown, mean, deviation, least: null, median: null, most: null };
  const sorted = Float64Array.from(members, (row) => float64At(values, row))
    .filter(Number.isFinite)
    .sort();
  const middle = (float64At(sorted, (count - 1) >> 1) + float64At(sorted, count >> 1)) / 2;
  return {
    count,
    unknown,
    mean,
    deviation,
    least: float64At(sorted, 0),
    median: middle,
    most: float64At(sorted, count - 1),
  };
}
