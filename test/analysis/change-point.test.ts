import { expect, test } from 'vitest';
import { shareChance } from '../../src/analysis/movement/change-point.ts';

test('a share that a few things part without an exception may be luck', () => {
  const shares = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1];
  const chance = (count: number): number => {
    const counts = shares.map(() => count);
    return shareChance({ at: 5, jump: 1, p: 0 }, shares, counts);
  };
  expect(chance(1)).toBeGreaterThan(0.001);
  expect(chance(20)).toBeLessThan(1e-12);
});
