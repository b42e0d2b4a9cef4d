import { itemAt } from '../../core/lists/at.ts';

/** The number of rollouts with a value from `from` up to, but excluding, `to`; the last bar includes its upper end. */
export interface Bar {
  from: number;
  to: number;
  count: number;
  /** A filter that holds for exactly the rollouts of this bar. */
  filter: string;
}

export interface Histogram {
  bars: readonly Bar[];
  /** Rollouts without a finite value. */
  unknown: number;
}

/**
 * Bars of round widths, including empty ones between full ones; if there are few values, one bar for each. @param most
 * bars at most
 */
export function histogramOf(name: string, values: Float64Array, most = 20): Histogram {
  let count = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const each = new Map<number, number>();
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    count++;
    if (value < low) low = value;
    if (value > high) high = value;
    // -0 is 0.
    if (each.size <= most) each.set(value + 0, (each.get(value + 0) ?? 0) + 1);
  }
  const unknown = values.length - count;
  if (count === 0) return { bars: [], unknown };
  if (each.size <= most && !isRow(each.size, low, high))
    return {
      bars: [...each]
        .sort(([a], [b]) => a - b)
        .map(([value, own]) => ({ from: value, to: value, count: own, filter: `${name} == ${value}` })),
      unknown,
    };
  const width = roundWidth(high - low, most);
  const edge = (i: number): number => Number((i * width).toPrecision(12));
  // The quotients and the edges round differently.
  let first = Math.floor(low / width);
  while (edge(first) > low) first--;
  let last = Math.max(first, Math.ceil(high / width) - 1);
  while (edge(last + 1) < high) last++;
  const bars = Array.from({ length: last - first + 1 }, (_, i) => ({
    from: edge(first + i),
    to: edge(first + i + 1),
    count: 0,
  }));
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    let at = Math.max(0, Math.min(bars.length - 1, Math.floor(value / width) - first));
    if (at > 0 && value < itemAt(bars, at).from) at--;
    else if (at < bars.length - 1 && value >= itemAt(bars, at).to) at++;
    itemAt(bars, at).count++;
  }
  return {
    bars: bars.map((bar, i) => ({
      ...bar,
      filter: `${name} >= ${bar.from} && ${name} ${i === bars.length - 1 ? '<=' : '<'} ${bar.to}`,
    })),
    unknown,
  };
}

/** A filter for the rollouts that are in no bar. */
export function unknownFilter(name: string, bars: readonly Bar[]): string {
  const [first, last] = [bars[0], bars.at(-1)];
  return first === undefined || last === undefined ? '' : `!(${name} >= ${first.from} && ${name} <= ${last.to})`;
}

/** Few values far apart are not binned: 0 and 1, or −1, 0.2 and 7. */
const isRow = (distinct: number, low: number, high: number): boolean =>
  distinct > 10 && high - low > 0 && !Number.isInteger(low);

/** 1, 2 or 5 times a power of ten. */
function roundWidth(range: number, most: number): number {
  const least = range / (most - 1);
  const power = 10 ** Math.floor(Math.log10(least));
  const width = [1, 2, 5, 10].find((times) => times * power >= least)! * power;
  return Number(width.toPrecision(12));
}
