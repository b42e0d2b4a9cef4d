import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketsOf, numberSpread } from '../../src/analysis/charts/buckets.ts';
import { histogramOf } from '../../src/analysis/charts/histogram.ts';
import { curveOf } from '../../src/analysis/charts/numbers-of.ts';
import type { FactRows } from '../../src/analysis/facts/fact-rows.ts';
import { compileQuery } from '../../src/analysis/query/query.ts';

/** The filter of a bar, asked of one value. */
const holds = (filter: string, value: number) =>
  compileQuery(filter).accepts({ value: () => value, facts: null as never, mayHold: () => true } as never);

describe('a histogram', () => {
  test('0 and 1 are two bars, and each opens as a filter', () => {
    const { bars, unknown } = histogramOf(
      'score',
      Float64Array.of(1, 0, 0, Number.NaN, 1, 0, Number.POSITIVE_INFINITY),
    );
    expect(bars.map(({ from, count, filter }) => [from, count, filter])).toEqual([
      [0, 3, 'score == 0'],
      [1, 2, 'score == 1'],
    ]);
    expect(unknown).toBe(2);
  });

  test('many values are bars of a round width, empty ones between them included', () => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => (i < 900 ? i / 100 : 95));
    const { bars } = histogramOf('chars', values);
    expect(bars.length).toBeLessThanOrEqual(20);
    expect(bars[0]).toEqual({ from: 0, to: 5, count: 500, filter: 'chars >= 0 && chars < 5' });
    expect(bars[2]?.count).toBe(0);
    expect(bars.at(-1)?.to).toBeGreaterThanOrEqual(95);
  });

  test('one value, and none', () => {
    expect(histogramOf('x', Float64Array.of(3, 3)).bars).toEqual([{ from: 3, to: 3, count: 2, filter: 'x == 3' }]);
    expect(histogramOf('x', Float64Array.of(Number.NaN))).toEqual({ bars: [], unknown: 1 });
    expect(histogramOf('x', new Float64Array(0))).toEqual({ bars: [], unknown: 0 });
  });

  test('each value lies in the bar whose filter holds for it, and in no other', () => {
    const number = fc.oneof(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.integer({ min: -50, max: 50 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0, 1e-12, 0.1, 0.3, 0.7),
    );
    fc.assert(
      fc.property(fc.array(number, { maxLength: 60 }), fc.integer({ min: 2, max: 20 }), (list, most) => {
        const { bars, unknown } = histogramOf('score', Float64Array.from(list), most);
        const finite = list.filter(Number.isFinite);
        expect(bars.reduce((sum, { count }) => sum + count, unknown)).toBe(list.length);
        for (const { filter, count } of bars)
          expect(finite.filter((value) => holds(filter, value)).length, filter).toBe(count);
      }),
    );
  });
});

test('a spread is that of the finite values', () => {
  const values = Float64Array.of(4, Number.NaN, 1, 2, Number.NEGATIVE_INFINITY, 100);
  expect(numberSpread(values, [0, 1, 2, 3, 4])).toMatchObject({ count: 3, unknown: 2, least: 1, median: 2, most: 4 });
  expect(numberSpread(values, [0, 2, 3]).mean).toBeCloseTo(7 / 3, 12);
  expect(numberSpread(values, [2]).deviation).toBe(0);
  expect(numberSpread(values, [1, 4])).toMatchObject({ count: 0, mean: null, least: null, median: null });
});

test('a spread equals the plain formulas', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 }), (list) => {
      const found = numberSpread(Float64Array.from(list), [...list.keys()]);
      const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
      const sorted = [...list].sort((a, b) => a - b);
      expect(found.mean).toBeCloseTo(mean, 6);
      expect(found.deviation).toBeCloseTo(
        Math.sqrt(list.reduce((sum, value) => sum + (value - mean) ** 2, 0) / list.length),
        5,
      );
      expect([found.least, found.most]).toEqual([sorted[0], sorted.at(-1)]);
    }),
  );
});

test('a step that was written twice is one bucket, streams stay apart, gaps stay gaps', () => {
  const steps = [3, 1, 3, Number.NaN, 1, 7];
  const streams = ['train', 'train', 'train', 'train', 'val', 'val'];
  const rows = {
    length: 6,
    words: (name: string) => (name === 'stream' ? streams : steps.map(() => null)),
    numbers: () => Float64Array.from(steps),
  } as unknown as FactRows;
  expect(bucketsOf(rows, 'step').map(({ stream, value, members }) => [stream, value, members.join()])).toEqual([
    ['train', 1, '1'],
    ['train', 3, '0,2'],
    ['train', null, '3'],
    ['val', 1, '4'],
    ['val', 7, '5'],
  ]);
});

test('a curve has the mean of each step, of the stream that has the most; what is not finite is in none', () => {
  const steps = [1, 1, 2, 5, 1, Number.NaN];
  const values = [0, 1, Number.NaN, 4, 9, 7];
  const streams = ['train', 'train', 'train', 'train', 'val', 'train'];
  const rows = {
    length: 6,
    words: (name: string) => (name === 'stream' ? streams : steps.map(() => null)),
    numbers: (name: string) => Float64Array.from(name === 'step' ? steps : values),
  } as unknown as FactRows;
  expect(curveOf(rows, 'x')).toEqual({
    stream: 'train',
    known: 5,
    points: [
      { x: 1, y: 0.5 },
      { x: 5, y: 4 },
    ],
  });
});
