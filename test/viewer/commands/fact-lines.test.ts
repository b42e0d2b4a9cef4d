import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FactColumn } from '../../../src/analysis/facts/facts-table.ts';
import { ByteLines } from '../../../src/viewer/commands/byte-lines.ts';
import { factLines } from '../../../src/viewer/commands/fact-lines.ts';
import { csvCells } from '../../../src/viewer/commands/row-csv.ts';

const ROWS = 6;
const number = fc.constantFrom(0, 3, 4_000_000_000, 0.25, -2, Number.NaN);
const keys = fc
  .oneof(
    number.map((same) => new Array<number>(ROWS).fill(same)),
    fc.array(number, { minLength: ROWS, maxLength: ROWS }),
  )
  .map((list) => Float64Array.from(list));
const cellOf = (key: number) => (Number.isNaN(key) ? null : key);
const wordOf = (key: number) => (Number.isNaN(key) ? null : `"${key}",`);
const column = (lists: readonly Float64Array[]): fc.Arbitrary<FactColumn> =>
  fc.oneof(
    fc
      .constantFrom(...lists)
      .map((own): FactColumn => ({ name: 'n', type: 'DOUBLE', keys: own, cellOf, form: 'number' })),
    fc
      .constantFrom(...lists)
      .map((own): FactColumn => ({ name: 'w', type: 'STRING', keys: own, cellOf: wordOf, form: 'other' })),
    fc.constant<FactColumn>({ name: 't', type: 'STRING', at: (row) => (row === 0 ? null : `=${row}`) }),
  );

test('lines are those of their cells, one by one', () => {
  const table = fc
    .array(keys, { minLength: 1, maxLength: 3 })
    .chain((lists) => fc.array(column(lists), { minLength: 1, maxLength: 7 }));
  fc.assert(
    fc.property(table, (columns) => {
      const out = new ByteLines();
      const print = factLines(columns, ROWS);
      for (let row = 0; row < ROWS; row++) print(row, out);
      const cell = (one: FactColumn, row: number) =>
        'at' in one ? one.at(row) : one.cellOf(one.keys[row] ?? Number.NaN);
      const lines = Array.from({ length: ROWS }, (_, row) => `${csvCells(columns.map((one) => cell(one, row)))}\n`);
      expect(out.take().toString()).toBe(lines.join(''));
    }),
  );
});
