// Work that a worker refuses, and work that is given up: at a real Redis, each with its reason.
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { QueuedJobs } from '../../src/cluster/jobs.ts';
import { type SharedRedis, shareRedis } from '../../src/cluster/redis.ts';
import { redisHub } from '../../src/cluster/redis-place.ts';
import { headOf, Runs } from '../../src/cluster/runs.ts';
import { queueStatus } from '../../src/cluster/status.ts';
import { Texts } from '../../src/cluster/texts.ts';
import { type OpenRun, serveWorker } from '../../src/cluster/worker.ts';
import { execute } from '../program.ts';
import { bundled } from './bundled.ts';
import { until } from './processes.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
const ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});
afterAll(() => redis?.down());

let prefixes = 0;
async function connections(count: number): Promise<SharedRedis[]> {
  const url = `${redis.url}?prefix=refusals${prefixes++}`;
  const made = await Promise.all(Array.from({ length: count }, () => shareRedis(url, () => {})));
  ending.push(() => Promise.all(made.map((one) => one.close())));
  return made;
}

function work(shared: SharedRedis, open: OpenRun): string[] {
  const said: string[] = [];
  const stop = new AbortController();
  const openers = { rollouts: open, executions: open, scores: open };
  const served = serveWorker(redisHub(shared), {
    concurrency: 4,
    openers,
    say: (text) => said.push(text),
    signal: stop.signal,
  });
  ending.unshift(() => {
    stop.abort();
    return served;
  });
  return said;
}

async function jobsAt(shared: SharedRedis, say = (_: string) => {}) {
  const stop = new AbortController();
  const texts = new Texts(shared);
  const jobs = await QueuedJobs.open(shared, {
    id: 'run',
    kind: 'scores',
    what: 'a dump',
    data: {},
    texts,
    say,
    signal: stop.signal,
  });
  ending.unshift(() => jobs.close(true));
  return { jobs, stop };
}

const asIs = (text: string) => text;
const echo: OpenRun = async () => ({
  concurrency: 4,
  make: async (text) => {
    if (text === 'poison') throw new Error('it spoils');
    return `made ${text}`;
  },
  close: async () => {},
});

describe(`jobs at a queue${noRedis}`, () => {
  it.skipIf(!hasRedis)('are done by name, and one that spoils is given up after its tries and listed', async () => {
    const [producer, worker] = await connections(2);
    work(worker!, echo);
    const { jobs } = await jobsAt(producer!);
    const ends = await Promise.all([
      jobs.ask('a', 'one', asIs),
      jobs.ask('b', 'poison', asIs),
      jobs.ask('c', 'x'.repeat(100_000), asIs),
    ]);
    expect(ends).toEqual([{ made: 'made one' }, { lost: 'it spoils' }, { made: `made ${'x'.repeat(100_000)}` }]);
    expect(jobs.status.failed).toBe(1);
    const { poisoned, failed } = await queueStatus(producer!);
    expect(poisoned).toMatchObject([{ run: 'run', id: 'b', reason: 'it spoils' }]);
    expect(failed).toBe(1);
  });

  it.skipIf(!hasRedis)('that kill each worker that takes them are given up, too', async () => {
    const [producer] = await connections(1);
    const outfile = await bundled('dying-worker');
    let isOver = false;
    let deaths = 0;
    // A worker is there all the time, as a supervisor would have it.
    const supervised = (async () => {
      while (!isOver) {
        const { code } = await execute(process.execPath, [outfile, `${redis.url}?prefix=${producer!.prefix}`]);
        if (code === null) deaths++;
      }
    })();
    const { jobs } = await jobsAt(producer!);
    const ends = await Promise.all([jobs.ask('a', 'one', asIs), jobs.ask('b', 'poison', asIs)]);
    await jobs.ask('c', 'end', asIs);
    isOver = true;
    await supervised;
    rmSync(outfile);
    expect(ends).toEqual([{ made: 'made one' }, { lost: expect.stringContaining('stalled') }]);
    expect(deaths).toBe(7);
    expect((await queueStatus(producer!)).poisoned).toMatchObject([{ id: 'b' }]);
  });

  it.skipIf(!hasRedis)('are taken back where nobody had begun them', async () => {
    const [producer] = await connections(1);
    const { jobs, stop } = await jobsAt(producer!);
    const end = jobs.ask('a', 'one', asIs);
    stop.abort();
    expect(await end).toBe('idle');
  });

  it.skipIf(!hasRedis)(
    'of another version, and of a run that this machine lacks something for, are refused with the difference',
    async () => {
      const [producer, worker] = await connections(2);
      const runs = new Runs(producer!);
      await runs.setData('old', {});
      await runs.sign({ ...headOf({ id: 'old', kind: 'scores', what: 'a dump' }), version: '0.0.1' });
      const said = work(worker!, async () => {
        throw new Error('python is 3.8 here, 3.11 is the run’s');
      });
      const heard: string[] = [];
      await jobsAt(producer!, (text) => heard.push(text));
      await until(() => heard.some((text) => text.endsWith('is refused: python is 3.8 here, 3.11 is the run’s')));
      expect(said).toContainEqual(
        expect.stringMatching(/^refused, scores of a dump on .*: version \S+ here, 0\.0\.1 is the run's$/),
      );
      await until(() => heard.some((text) => text.includes('no worker for this run is there: rollout-viewer worker')));
      const { workers } = await queueStatus(producer!);
      expect(workers[0]!.refused.map(({ run }) => run).sort()).toEqual(['old', 'run']);
    },
  );
});
