import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serveWorker, type WorkerHub } from '../../src/cluster/worker.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a waiting worker looks for runs when one says that it begins, and a few times a second if many do', async () => {
  let looks = 0;
  let tell = () => {};
  const hub = {
    isThere: () => true,
    list: async () => {
      looks++;
      return [];
    },
    onNews: (told: () => void) => {
      tell = told;
    },
    beat: async () => {},
    leave: async () => {},
  } as unknown as WorkerHub;
  const stop = new AbortController();
  const refuse = async () => {
    throw new Error('nothing to do here');
  };
  const openers = { rollouts: refuse, executions: refuse, scores: refuse };
  const served = serveWorker(hub, { concurrency: 1, openers, say: () => {}, signal: stop.signal });
  await vi.advanceTimersByTimeAsync(100);
  expect(looks).toBe(1);
  tell();
  await vi.advanceTimersByTimeAsync(0);
  expect(looks).toBe(2);
  for (let at = 0; at < 100; at++) {
    tell();
    await vi.advanceTimersByTimeAsync(1);
  }
  expect(looks).toBe(4);
  await vi.advanceTimersByTimeAsync(1000);
  expect(looks).toBe(6);
  stop.abort();
  expect(await served).toBe('stopped');
});
