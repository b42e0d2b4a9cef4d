import { numberInAt, uint32At } from '../../core/lists/at.ts';

/** ln Γ(x) for x > 0 (Lanczos). */
function logGamma(x: number): number {
  let sum = 1.000000000190015;
  for (const [i, c] of LANCZOS.entries()) sum += c / (x + i + 1);
  const t = x + 5.5;
  return (x + 0.5) * Math.log(t) - t + Math.log((Math.sqrt(2 * Math.PI) * sum) / x);
}

const LANCZOS = [
  76.18009172947146, -86.5053203294168, 24.01409824083091, -1.23173957245016, 0.00120865097386618, -0.5395239384953e-5,
];

/** The regularised incomplete beta function, by its continued fraction (Lentz). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
  const tiny = 1e-300;
  let c = 1;
  let d = 1 / Math.max(tiny, 1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d, tiny);
    c = away(1 + even / c, tiny);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d, tiny);
    c = away(1 + odd / c, tiny);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return front * fraction;
}

const away = (value: number, tiny: number): number => (Math.abs(value) < tiny ? tiny : value);

/** The chance of an F this large or larger. */
export const fTail = (f: number, df1: number, df2: number): number =>
  f <= 0 || df2 <= 0 ? 1 : incompleteBeta(df2 / (df2 + df1 * f), df2 / 2, df1 / 2);

/** The chance of a correlation at least this far from 0, with so many degrees of freedom. */
export function correlationTail(r: number, df: number): number {
  if (df < 1 || Number.isNaN(r)) return 1;
  if (Math.abs(r) >= 1) return 0;
  return fTail((r * r * df) / (1 - r * r), 1, df);
}

/** Ranks from 1; equal values share their mean rank. */
export function ranksOf(values: ArrayLike<number>): Float64Array {
  const order = Uint32Array.from({ length: values.length }, (_, i) => i).sort(
    (a, b) => numberInAt(values, a) - numberInAt(values, b),
  );
  const ranks = new Float64Array(values.length);
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && values[uint32At(order, to)] === values[uint32At(order, from)]) to++;
    for (let i = from; i < to; i++) ranks[uint32At(order, i)] = (from + to + 1) / 2;
    from = to;
  }
  return ranks;
}

/** Pearson's r; NaN if either does not vary. */
export function pearson(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = a.length;
  let [meanA, meanB] = [0, 0];
  for (let i = 0; i < n; i++) {
    meanA += numberInAt(a, i) / n;
    meanB += numberInAt(b, i) / n;
  }
  let [aa, bb, ab] = [0, 0, 0];
  for (let i = 0; i < n; i++) {
    const [x, y] = [numberInAt(a, i) - meanA, numberInAt(b, i) - meanB];
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  return aa === 0 || bb === 0 ? Number.NaN : Math.max(-1, Math.min(1, ab / Math.sqrt(aa * bb)));
}

/** Spearman's rank correlation, with ties; NaN if either does not vary. */
export const spearman = (a: ArrayLike<number>, b: ArrayLike<number>): number => pearson(ranksOf(a), ranksOf(b));
