import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareValues, type SortValue } from '../../../src/analysis/query/sort.ts';
import { finished } from '../../../src/core/async/finished.ts';
import type { DumpFile } from '../../../src/core/dump/dump-file.ts';
import { sortedInSteps } from '../../../src/viewer/tui/rows/radix.ts';
import { SortTable } from '../../../src/viewer/tui/rows/sort-table.ts';

/** Fewer rows are sorted by comparison. */
const ROWS = 600;
const FILES = [0, 1, 2].map(() => ({}) as DumpFile);

const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, 2 ** 32, -(2 ** 32), 2 ** 53, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324),
);
const value: fc.Arbitrary<SortValue> = fc.oneof(number, fc.constantFrom(null, Number.NaN), fc.string({ maxLength: 2 }));
const rows = (of: fc.Arbitrary<SortValue>) => fc.array(of, { minLength: ROWS, maxLength: ROWS + 200 });

test.each([
  ['of any kind', value],
  ['that are numbers', number],
  ['that are near integers', fc.integer({ min: 1e9, max: 1e9 + 5000 })],
  ['that are few numbers', fc.constantFrom(0, -0, 0.5, -1e300, 2 ** 53, Number.NEGATIVE_INFINITY, 5e-324)],
])('rows with values %s are sorted like by comparison, equal ones in the order of the files', (_, of) => {
  fc.assert(
    fc.property(rows(of), fc.boolean(), fc.nat(ROWS), (values, descending, cut) => {
      const table = new SortTable(descending);
      for (const [i, one] of values.entries()) {
        table.add(FILES[i % FILES.length]!, i, one);
        if (i !== cut) continue;
        table.rankFiles(FILES);
        for (const _step of table.merge());
      }
      table.rankFiles(FILES);
      for (const _step of table.merge());
      const wanted = [...values.keys()].sort(
        (a, b) => compareValues(values[a]!, values[b]!, descending) || (a % FILES.length) - (b % FILES.length) || a - b,
      );
      expect([...table.order].map((id) => table.place(id).record)).toEqual(wanted);
    }),
    { numRuns: 60 },
  );
});

test('numbers are merged in steps as they are sorted at once', () => {
  for (const count of [0, 1, 2, 1023, 1024, 1025, 5000]) {
    const keyOf = (i: number): number => (i * 7919) % 5003;
    const sorted = finished(sortedInSteps(count, (a, b) => keyOf(a) < keyOf(b)));
    expect([...sorted]).toEqual([...Array(count).keys()].sort((a, b) => keyOf(a) - keyOf(b)));
  }
});
