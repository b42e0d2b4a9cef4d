import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CellColumn, IN_RECORD } from '../../../src/core/dump/cell-column.ts';
import { NumberColumn } from '../../../src/core/dump/number-column.ts';
import type { JsonValue } from '../../../src/core/json/value.ts';

const number = fc.oneof(
  fc.constantFrom(0, -0, 1, 254, 255, 256, 65534, 65535, 0.5, 0.1, 2 ** 40, -1, Number.NaN, Infinity),
  fc.double(),
  fc.nat({ max: 300 }),
);

test('a column gives back every number that was set last, in any order and form', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat({ max: 90 }), number), { maxLength: 120 }), (sets) => {
      const column = new NumberColumn();
      const plain = new Map<number, number>();
      for (const [row, value] of sets) {
        column.set(row, value);
        plain.set(row, value);
      }
      const again = NumberColumn.of(column.store());
      again.settle();
      const length = Math.max(-1, ...plain.keys()) + 1;
      const copied = new Float64Array(length + 2);
      column.copyTo(copied, 0, length + 2);
      for (let row = 0; row < length + 2; row++) {
        const wanted = plain.get(row) ?? Number.NaN;
        expect([column.at(row), again.at(row), copied[row]]).toEqual([wanted, wanted, wanted]);
      }
      const isSmall = (value: number) => value < 300;
      for (const one of [column, again]) expect(one.every(isSmall)).toBe(copied.subarray(0, length).every(isSmall));
      column.truncate(2);
      expect(column.at(2)).toBeNaN();
    }),
  );
});

test('a column of few numbers is small', () => {
  const column = new NumberColumn();
  for (let row = 0; row < 1000; row++) column.set(row, 7);
  expect(column.store().values).toBeNull();
  column.set(1000, 8);
  expect(column.store().form).toBe('u8');
  column.set(1001, 0.25);
  expect(column.store().form).toBe('f32');
  column.set(1002, 0.1);
  expect([column.store().form, column.at(3), column.at(1002)]).toEqual(['f64', 7, 0.1]);
});

test('a column whose rows came in another order is as small as before once it is whole', () => {
  const column = new NumberColumn();
  for (const row of [64, 2, 3, 1, 0]) column.set(row, 7);
  for (let row = 4; row < 64; row++) column.set(row, 7);
  expect(column.store().values).toHaveLength(65);
  column.settle();
  expect(column.store()).toEqual({ form: 'same', length: 65, value: 7, values: null });
  column.set(65, 8);
  expect([column.at(64), column.at(65), column.at(66)]).toEqual([7, 8, Number.NaN]);
});

test('a cell holds what JSON has, or says that the record has it', () => {
  const value = fc.oneof(
    number,
    fc.constantFrom<JsonValue | undefined>(true, false, null, undefined, 'a', 'b', ''),
    fc.string(),
  ) as fc.Arbitrary<JsonValue | undefined>;
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), (values) => {
      const column = new CellColumn();
      for (const [row, one] of values.entries()) column.set(row, one);
      for (const [row, one] of values.entries()) expect(column.at(row)).toEqual(one);
    }),
  );
  const column = new CellColumn();
  column.set(0, { a: 1 });
  column.set(1, 12n);
  expect([column.at(0), column.at(1), column.at(2)]).toEqual([IN_RECORD, IN_RECORD, undefined]);
});

test('texts that differ in every row are left in the records', () => {
  const column = new CellColumn();
  for (let row = 0; row < 10_000; row++) column.set(row, `uid-${row}`);
  expect(column.texts.length).toBeLessThan(200);
  expect([column.at(0), column.at(9_999)]).toEqual(['uid-0', IN_RECORD]);
});
