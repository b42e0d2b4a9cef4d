import { float64At, int32At } from '../../core/lists/at.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { type Bucket, bucketsOf } from './buckets.ts';

interface NumberCache {
  buckets: readonly Bucket[];
  /** The bucket of each row. */
  ids: Int32Array;
  curves: Map<string, Curve>;
}

/** Computed once for the same rows, however often it is drawn. */
const kept = new WeakMap<FactRows, NumberCache>();

function keptOf(rows: FactRows): NumberCache {
  const known = kept.get(rows);
  if (known !== undefined) return known;
  const buckets = bucketsOf(rows, 'step');
  const ids = new Int32Array(rows.length);
  for (const [id, { members }] of buckets.entries()) for (const row of members) ids[row] = id;
  const made: NumberCache = { buckets, ids, curves: new Map() };
  kept.set(rows, made);
  return made;
}

const stepIn = ({ value }: Bucket): number | null => (typeof value === 'number' ? value : null);

/** The means of a number by step: what a chart draws. */
export interface Curve {
  /** The stream with the most steps. */
  stream: string;
  points: readonly { x: number; y: number }[];
  /** Rollouts of all streams that have the number. */
  known: number;
}

/** One pass over the rows, because a list of numbers draws dozens of these. */
export function curveOf(rows: FactRows, name: string): Curve {
  const { buckets, ids, curves } = keptOf(rows);
  const kept = curves.get(name);
  if (kept !== undefined) return kept;
  const values = rows.numbers(name);
  const counts = new Float64Array(buckets.length);
  const means = new Float64Array(buckets.length);
  for (let row = 0; row < ids.length; row++) {
    const value = float64At(values, row);
    // A value minus itself is not 0 for NaN and the infinities.
    if (value - value !== 0) continue;
    const id = int32At(ids, row);
    means[id] = float64At(means, id) + (value - float64At(means, id)) / ++counts[id]!;
  }
  const streams = new Map<string, { x: number; y: number }[]>();
  for (const [id, bucket] of buckets.entries()) {
    const step = stepIn(bucket);
    if (step === null || counts[id] === 0) continue;
    const points = streams.get(bucket.stream);
    if (points === undefined) streams.set(bucket.stream, [{ x: step, y: float64At(means, id) }]);
    else points.push({ x: step, y: float64At(means, id) });
  }
  const [first] = [...streams].sort(([, a], [, b]) => b.length - a.length);
  const made = {
    stream: first?.[0] ?? '',
    points: first?.[1] ?? [],
    known: counts.reduce((sum, count) => sum + count, 0),
  };
  curves.set(name, made);
  return made;
}
