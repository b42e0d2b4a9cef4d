// A part of the kills of `npm run bench cluster`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countOf } from '../support/tier.ts';
import { killReplays, killRollouts } from './kills.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

const KILLS = countOf(3, 8);
const TASKS = countOf(80, 250);
const CALLS = countOf(120, 300);

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
afterAll(() => redis?.down());

describe(`a run whose workers and whose Redis are killed${noRedis}`, () => {
  it.skipIf(!hasRedis)(
    'has every rollout once, as one process makes it, and keeps the limit of the sandbox',
    async () => {
      const outcome = await killRollouts(redis, { kills: KILLS, restarts: 1, tasks: TASKS, places: 8, cap: 8 });
      const all = 4 * TASKS;
      expect(outcome).toMatchObject({ kills: KILLS, restarts: 1, lines: all, uids: all, isEqual: true });
      expect(outcome.busiest).toBe(8);
    },
  );

  it.skipIf(!hasRedis)('has every call once in its journal', async () => {
    const outcome = await killReplays(redis, { kills: 2, restarts: 1, calls: CALLS });
    expect(outcome).toMatchObject({ kills: 2, restarts: 1, entries: CALLS, records: CALLS, same: CALLS });
  });
});
