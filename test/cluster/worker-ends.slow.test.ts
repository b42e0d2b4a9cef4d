// Workers as batch systems start them: they end by themselves, their status says why, and their state is scraped.
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { dumpLines } from '../support/dump-lines.ts';
import { kill, killAll, start, startWorker, until } from './processes.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';
import { type Busiest, N, slowModel, slowSandbox, TASKS, workplace } from './workplace.ts';

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
afterEach(() => killAll());
afterAll(() => redis?.down());

describe(`a worker${noRedis}`, () => {
  it.skipIf(!hasRedis).each([
    [['--idle-exit', '1'], 0, 'ended: 1 s without work'],
    [['--max-time', '1'], 4, 'ended: 1 s are over'],
  ])('ends by %j with a status that says why', async (flags, status, said) => {
    const worker = startWorker(`${redis.url}?prefix=ends`, ...flags);
    expect(await worker.ended).toBe(status);
    expect(worker.said()).toContain(said);
  });

  it.skipIf(!hasRedis)('ends by SIGTERM once what it began is done', async () => {
    const worker = startWorker(`${redis.url}?prefix=term`);
    await until(() => worker.said().includes('rollouts at once'));
    await kill(worker, 'SIGTERM');
    expect(await worker.ended).toBe(143);
  });

  it.skipIf(!hasRedis)('an array of eight makes a run, reports its progress, and ends by itself', async () => {
    const busiest: Busiest = { sandbox: 0, model: 0 };
    const sandbox = await slowSandbox(busiest, 20);
    const model = await slowModel(busiest, 20);
    const { url, queued, folder } = workplace({ redis: redis.url, model: model.url, sandbox: sandbox.url });
    const workers = Array.from({ length: 8 }, () => startWorker(url, '--idle-exit', '20', '--metrics', '0'));
    const run = start(queued, { cwd: folder });
    expect(await run.ended).toBe(0);
    expect(dumpLines(join(folder, 'queued/1.jsonl'))).toHaveLength(TASKS * N);
    const texts = await Promise.all(
      workers.map(async ({ said }) => {
        const [, place] = /metrics at (\S+)/.exec(said()) ?? [];
        return (await fetch(`http://${place}/metrics`)).text();
      }),
    );
    const done = texts.map((text) => Number(/^rollout_viewer_worker_jobs_done_total (\d+)$/m.exec(text)?.[1]));
    expect(done.reduce((sum, one) => sum + one)).toBe(TASKS * N);
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual(Array(8).fill(0));
    await model.close();
    sandbox.close();
  });
});
