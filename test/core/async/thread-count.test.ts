import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.resetModules());

test('one thread a processor, within bounds, unless the user says how many', async () => {
  const { allowThreads, threadCount } = await import('../../../src/core/async/thread-count.ts');
  expect(threadCount(1)).toBe(1);
  expect(threadCount(1000, 999)).toBe(1);
  expect(threadCount(1000)).toBeGreaterThan(0);
  allowThreads(64);
  expect([threadCount(8), threadCount(4, 1)]).toEqual([64, 64]);
});
