// A Redis without room: the work waits, says so, and goes on; nothing of it becomes a result or a score.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { rolloutViewer } from '../program.ts';
import { coreOf } from '../support/tier.ts';
import { killAll, startWorker } from './processes.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';
import { type Busiest, linesOf, slowModel, slowSandbox, workplace } from './workplace.ts';

const SIZES: [maxmemory: string, tasks: number][] = [
  ['2500kb', 100],
  ['4mb', 500],
];

const ending: (() => unknown)[] = [];
afterEach(async () => {
  await killAll();
  for (const end of ending.splice(0)) await end();
});

/** Rollouts against a Redis of so many bytes, and the same without a queue. */
async function runAt(maxmemory: string, tasks: number) {
  const redis = await TestRedis.start('--maxmemory', maxmemory, '--maxmemory-policy', 'noeviction');
  const busiest: Busiest = { sandbox: 0, model: 0 };
  const sandbox = await slowSandbox(busiest, 5);
  const model = await slowModel(busiest, 5);
  ending.push(
    () => redis.down(),
    sandbox.close,
    () => model.close(),
  );
  const lines = Array.from({ length: tasks }, (_, at) =>
    JSON.stringify({ prompt: String(at), ground_truth: String(at), data_source: 'gsm8k' }),
  );
  const place = workplace(
    { redis: redis.url, model: model.url, sandbox: sandbox.url },
    {
      'tasks.jsonl': lines.join('\n'),
      'tools.yaml': `tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "${sandbox.url}", num_workers: 64, rate_limit: 16, default_timeout: 2}}]`,
    },
  );
  const group = ['-n', '4', '--concurrency', '2000'];
  await rolloutViewer([...place.alone, ...group], { cwd: place.folder });
  startWorker(place.url, '--concurrency', '16');
  startWorker(place.url, '--concurrency', '16');
  const { code } = await rolloutViewer([...place.queued, ...group], { cwd: place.folder });
  return { code, folder: place.folder };
}

describe(`a Redis without room${noRedis}`, () => {
  it.skipIf(!hasRedis).each(coreOf(SIZES, ([, tasks]) => tasks === 100))(
    'of %s makes every rollout as no queue does',
    async (maxmemory, tasks) => {
      const { code, folder } = await runAt(maxmemory, tasks);
      const [queued, alone] = ['queued', 'alone'].map((out) => linesOf(join(folder, out, '1.jsonl')));
      expect(queued).toHaveLength(4 * tasks);
      expect(JSON.stringify(queued) === JSON.stringify(alone)).toBe(true);
      expect(readFileSync(join(folder, 'queued/1.jsonl'), 'utf8')).not.toContain('OOM');
      expect(code).toBe(0);
    },
  );
});
