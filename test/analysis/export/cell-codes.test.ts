import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellCodes } from '../../../src/analysis/export/files/cell-codes.ts';

const key = fc.oneof(
  fc.constantFrom(0, -0, 1, 7, 65_535, 65_536, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 40),
  fc.double(),
);
/** Both zeros have cells of their own, and some keys have none. */
const cellOf = (one: number): string | null =>
  Number.isNaN(one) || one < 0 ? null : Object.is(one, -0) ? 'minus' : String(one);

test('the codes of keys lead to their cells, each of which is there once', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), fc.boolean(), (drawn, isWhole) => {
      const keys = isWhole ? Int32Array.from(drawn) : Float64Array.from(drawn);
      const { codes, cells, known } = cellCodes(keys, cellOf);
      const wanted = Array.from(keys, cellOf);
      expect(Array.from(codes, (code) => cells[code] ?? null)).toEqual(wanted);
      expect(cells).toEqual([...new Set(wanted.filter((cell) => cell !== null))]);
      expect(known).toBe(wanted.filter((cell) => cell !== null).length);
    }),
  );
});
