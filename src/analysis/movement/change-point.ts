import { float64At, numberInAt } from '../../core/lists/at.ts';
import { fTail } from './statistics.ts';

export interface ChangePoint {
  /** The first value after the change. */
  at: number;
  /** How far the level moved. */
  jump: number;
  /** The chance of a jump this clear, at any place, in a series that only drifts. */
  p: number;
}

/**
 * The chance of a jump of a share, by the number of things that were counted: a few groups that are parted without an exception
 * leave no rest to compare the jump with.
 */
export function shareChance({ at, jump }: ChangePoint, shares: ArrayLike<number>, counts: ArrayLike<number>): number {
  let [sum, before, after] = [0, 0, 0];
  for (let i = 0; i < shares.length; i++) {
    sum += shares[i]! * counts[i]!;
    if (i < at) before += counts[i]!;
    else after += counts[i]!;
  }
  const share = sum / (before + after);
  const variance = share * (1 - share) * (1 / before + 1 / after);
  return variance > 0 && before + after > 2 ? fTail(jump ** 2 / variance, 1, before + after - 2) : 1;
}

/** Minimum number of values on each side. */
const SIDE = 3;
/** A smooth drift, as while a model learns, is not a change: a curve of this degree is removed first. */
const DEGREE = 3;

/**
 * The place at which a series jumps most clearly. At each place a curve with a step is compared with the curve alone,
 * and the largest F wins (Andrews 1993); its p value is that of one place times the number of places. Deterministic: no
 * permutations, no random numbers.
 * @param weights how many rollouts each value is the mean of
 */
export function changePoint(values: ArrayLike<number>, weights: ArrayLike<number>): ChangePoint | null {
  const n = values.length;
  const terms = Math.min(DEGREE, Math.floor(n / 8)) + 1;
  const places = n - 2 * SIDE + 1;
  const df = n - terms - 1;
  if (places < 1 || df < 2) return null;
  const basis = smoothBasis(n, terms, weights);
  const rest = residual(
    Float64Array.from({ length: n }, (_, i) => numberInAt(values, i) * Math.sqrt(numberInAt(weights, i))),
    basis,
  );
  const total = dot(rest, rest);
  const size = Array.from({ length: n }, (_, i) => numberInAt(values, i) ** 2 * numberInAt(weights, i)).reduce(
    (sum, one) => sum + one,
    0,
  );
  if (total <= 1e-18 * Math.max(size, 1e-300)) return null;
  let best: { at: number; gain: number; jump: number } | null = null;
  for (let at = SIDE; at <= n - SIDE; at++) {
    const step = residual(
      Float64Array.from({ length: n }, (_, i) => (i >= at ? Math.sqrt(numberInAt(weights, i)) : 0)),
      basis,
    );
    const length = dot(step, step);
    if (length < 1e-9) continue;
    const along = dot(step, rest);
    const gain = (along * along) / length;
    if (best === null || gain > best.gain) best = { at, gain, jump: along / length };
  }
  if (best === null) return null;
  const f = best.gain / (Math.max(total - best.gain, 1e-12 * total) / df);
  return { at: best.at, jump: best.jump, p: Math.min(1, fTail(f, 1, df) * places) };
}

/** A jump must fit better than a smooth course by this much, in log likelihood. */
const BETTER = 3;

/**
 * The place at which a series rises from one level to another, if two levels fit better than a line together with the
 * course that is expected. For series of few values, in which a curve would hide the jump.
 */
export function levelChange(
  values: ArrayLike<number>,
  weights: ArrayLike<number>,
  expected: ArrayLike<number>,
): ChangePoint | null {
  const n = values.length;
  const places = n - 2 * SIDE + 1;
  if (places < 1) return null;
  const column = (of: (i: number) => number) =>
    Float64Array.from({ length: n }, (_, i) => of(i) * Math.sqrt(numberInAt(weights, i)));
  const line = smoothBasis(n, 2, weights);
  const level = line.slice(0, 1);
  const own = residual(
    column((i) => numberInAt(expected, i)),
    line,
  );
  const length = Math.sqrt(dot(own, own));
  const smooth = length < 1e-6 ? line : [...line, own.map((value) => value / length)];
  const flat = residual(
    column((i) => numberInAt(values, i)),
    level,
  );
  const total = dot(flat, flat);
  const curved = residual(flat, smooth);
  const gainOf = (rest: number): number => (n / 2) * Math.log(total / Math.max(rest, 1e-9 * total));
  let best: { at: number; along: number; gain: number; jump: number } | null = null;
  for (let at = SIDE; at <= n - SIDE; at++) {
    const step = residual(
      column((i) => Number(i >= at)),
      level,
    );
    const size = dot(step, step);
    const along = dot(step, flat);
    if (size < 1e-9 || along <= 0) continue;
    const rest = total - (along * along) / size;
    if (best === null || gainOf(rest) > best.gain) best = { at, along, gain: gainOf(rest), jump: along / size };
  }
  if (best === null || total <= 1e-12) return null;
  const p = best.gain - gainOf(dot(curved, curved)) < BETTER ? 1 : Math.min(1, Math.exp(-best.gain) * places);
  return { at: best.at, jump: best.jump, p };
}

/** Orthonormal weighted columns of a smooth curve. */
function smoothBasis(n: number, terms: number, weights: ArrayLike<number>): Float64Array[] {
  const basis: Float64Array[] = [];
  for (let power = 0; power < terms; power++) {
    const column = Float64Array.from(
      { length: n },
      (_, i) => ((2 * i) / Math.max(1, n - 1) - 1) ** power * Math.sqrt(numberInAt(weights, i)),
    );
    const rest = residual(residual(column, basis), basis);
    const length = Math.sqrt(dot(rest, rest));
    if (length > 1e-9) basis.push(rest.map((value) => value / length));
  }
  return basis;
}

function residual(values: Float64Array, basis: readonly Float64Array[]): Float64Array {
  const rest = values.slice();
  for (const column of basis) {
    const along = dot(rest, column);
    for (let i = 0; i < rest.length; i++) rest[i] = float64At(rest, i) - along * float64At(column, i);
  }
  return rest;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += float64At(a, i) * float64At(b, i);
  return sum;
}
