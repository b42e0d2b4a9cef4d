import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonOf } from '../../../src/core/dump/containers/foreign-values.ts';
import { rowText } from '../../../src/core/dump/containers/parquet.ts';
import { printJson } from '../../../src/core/json/print.ts';
import { objectIn } from '../../../src/core/json/value.ts';

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0, '\u202e', '\ud800', '\u007f'),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array({ maxLength: 12 }),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
    fc.array(fc.tuple(fc.string(), tie('any')), { maxLength: 3 }).map((entries) => new Map(entries)),
  ),
})).any;
const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', '0', 'é', '"'));

test('a row of a parquet file is printed as its values in one object', () => {
  const names = new Map<string, string>();
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (entries) => {
      const row = Object.fromEntries(entries);
      expect(rowText(row, names)).toBe(printJson(objectIn(jsonOf(row))));
    }),
    { numRuns: 1000 },
  );
});
