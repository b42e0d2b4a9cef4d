import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FirstOf } from '../../../src/core/lists/first-of.ts';

test('the first of a list are those of the whole list sorted, equal ones in their order', () => {
  const keys = fc.oneof(
    fc.array(fc.nat({ max: 5 }), { maxLength: 40 }),
    fc.array(fc.nat({ max: 1000 }), { minLength: 300, maxLength: 900 }),
  );
  const most = fc.oneof(fc.nat({ max: 20 }), fc.constant(Number.POSITIVE_INFINITY));
  fc.assert(
    fc.property(keys, most, (numbers, count) => {
      const items = numbers.map((key, at) => ({ key, at }));
      const first = new FirstOf<(typeof items)[number]>(count, (a, b) => a.key - b.key);
      for (const item of items) first.add(item);
      expect(first.sorted()).toEqual(items.toSorted((a, b) => a.key - b.key).slice(0, count));
    }),
  );
});
