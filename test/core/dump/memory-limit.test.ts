import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LEAST_MEMORY, recordWithin, threadsWithin, tooLarge } from '../../../src/core/dump/memory-limit.ts';

test('the room is shared: a thread and a record are there at the least, more memory is never less of either', () => {
  expect(threadsWithin(LEAST_MEMORY)).toBe(1);
  expect(tooLarge(recordWithin(LEAST_MEMORY), 4e6)).toBeNull();
  fc.assert(
    fc.property(
      fc.double({ min: LEAST_MEMORY, max: 1e12, noNaN: true }),
      fc.double({ min: 0, max: 1e12, noNaN: true }),
      (limit, more) => {
        expect(threadsWithin(limit + more)).toBeGreaterThanOrEqual(threadsWithin(limit));
        expect(recordWithin(limit + more)).toBeGreaterThanOrEqual(recordWithin(limit));
      },
    ),
  );
});

test('a record is too large by its text or by its keys, and never without a limit', () => {
  expect(tooLarge(50e6, 5_000_000)).toBeNull();
  expect(tooLarge(50e6, 6_000_000)).toBe('to read it takes some 60.0 MB, and --memory leaves 50.0 MB for a record');
  const keys = (count: number, key = '"a":1,'): string => key.repeat(count);
  expect(tooLarge(50e6, 156_000, keys(26_000))).toContain('takes some 53.6 MB');
  expect(tooLarge(50e6, 138_000, keys(23_000))).toBeNull();
  expect(tooLarge(undefined, 1e15, keys(26_000))).toBeNull();
  expect(tooLarge(50e6, 182_000, keys(26_000, '"a" : 1,'))).toContain('takes some 53.8 MB');
  // Of JSON within a text.
  expect(tooLarge(50e6, 208_000, keys(26_000, String.raw`\"a\":1,`))).toBeNull();
});
