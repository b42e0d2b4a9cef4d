// A tenth of the kills of `npm run bench cluster`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KILLS_CAP, killRounds } from './kills.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
afterAll(() => redis?.down());

describe(`a run whose workers and whose Redis are killed${noRedis}`, () => {
  it.skipIf(!hasRedis)(
    'has every rollout once, as one process makes it, and keeps the limit of the sandbox',
    async () => {
      const outcome = await killRounds(redis, { kills: 10, restarts: 2, tasks: 300 });
      expect(outcome).toMatchObject({ kills: 10, restarts: 2, lines: 1200, uids: 1200, isEqual: true });
      expect(outcome.busiest).toBe(KILLS_CAP);
    },
  );
});
