import fc from 'fast-check';
import { expect, test } from 'vitest';
import { momentsOf } from '../../src/analysis/summary.ts';

test('mean and deviation are those of the finite values, by the plain formulas', () => {
  const value = fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.constantFrom(Number.NaN, Infinity));
  fc.assert(
    fc.property(fc.array(value), (values) => {
      const known = values.filter(Number.isFinite);
      const found = momentsOf(Float64Array.from(values), values.keys());
      expect(found.count).toBe(known.length);
      if (known.length === 0) {
        expect([found.mean, found.deviation]).toEqual([null, null]);
        return;
      }
      const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
      const deviation = Math.sqrt(known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / known.length);
      expect(Math.abs(found.mean! - mean)).toBeLessThan(1e-3);
      expect(Math.abs(found.deviation! - deviation)).toBeLessThan(1e-2);
    }),
  );
});
