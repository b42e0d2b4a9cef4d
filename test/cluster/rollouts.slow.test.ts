// Rollouts that workers make behind a real Redis: the dump is that of one process, whoever is killed meanwhile.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedModel } from '../engine/scripted-model.ts';
import { scriptedModel } from '../engine/scripted-model.ts';
import { directoryWith, rolloutViewer } from '../program.ts';
import { kill, killAll, start, startWorker, until } from './processes.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';
import { type Busiest, CAP, N, slowModel, slowSandbox, TASKS, workplace as workplaceAt } from './workplace.ts';

let redis: TestRedis;
let model: ScriptedModel;
let sandbox: Awaited<ReturnType<typeof slowSandbox>>;
const busiest: Busiest = { sandbox: 0, model: 0 };

beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  model = await slowModel(busiest);
  sandbox = await slowSandbox(busiest);
});
afterEach(killAll);
afterAll(async () => {
  await redis?.down();
  await model?.close();
  sandbox?.close();
});

const workplace = (files: Record<string, string> = {}) =>
  workplaceAt({ redis: redis.url, model: model.url, sandbox: sandbox.url }, files);

describe(`rollouts behind a queue${noRedis}`, () => {
  it.skipIf(!hasRedis)('are those of one process, and the limit of the sandbox is one for all workers', async () => {
    const { folder, url, queued, alone, lines } = workplace();
    expect((await rolloutViewer(alone, { cwd: folder })).code).toBe(0);
    busiest.sandbox = 0;
    startWorker(url);
    startWorker(url);
    // One worker asks for eight at most, so this model waits for both.
    const waiting = await slowModel(busiest, 20, 9);
    const { code, stderr } = await rolloutViewer([...queued, '--model-url', waiting.url], { cwd: folder });
    await waiting.close();
    expect(stderr).toContain(`${TASKS * N} of ${TASKS * N} rollouts in queued`);
    expect(code).toBe(0);
    expect(busiest.sandbox).toBe(CAP);
    expect(lines('queued')).toEqual(lines('alone'));
    const status = async () => JSON.parse((await rolloutViewer(['queue', url, '--json'])).stdout);
    expect(await status()).toMatchObject({ waiting: 0, active: 0, failed: 0, poisoned: [], runs: [] });
    // Workers report what they did every two seconds.
    const done = async (): Promise<number[]> => (await status()).workers.map((one: { done: number }) => one.done);
    await until(async () => (await done()).reduce((sum, count) => sum + count, 0) === TASKS * N);
    expect(await done()).toEqual([expect.toSatisfy((count) => count > 0), expect.toSatisfy((count) => count > 0)]);
  });

  it.skipIf(!hasRedis)('ask a model server for no more turns at once than it is said, whoever asks', async () => {
    const { folder, url, queued } = workplace();
    startWorker(url);
    startWorker(url);
    busiest.model = 0;
    expect((await rolloutViewer([...queued, '--model-requests', '2'], { cwd: folder })).code).toBe(0);
    expect(busiest.model).toBe(2);
  });

  it.skipIf(!hasRedis)('are each in the dump once, though workers are killed', async () => {
    const { folder, url, queued, alone, made, lines } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    const first = [startWorker(url), startWorker(url)];
    const run = rolloutViewer(queued, { cwd: folder });
    for (const one of first) {
      const before = made();
      await until(() => made() > before + 5);
      await kill(one);
      startWorker(url);
    }
    expect((await run).stderr).toContain(`${TASKS * N} of ${TASKS * N} rollouts in queued`);
    expect(lines('queued')).toEqual(lines('alone'));
  });

  it.skipIf(!hasRedis)('survive a Redis that is killed and started again, and say so', async () => {
    const { folder, url, queued, alone, made, lines } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    startWorker(url);
    const run = rolloutViewer(queued, { cwd: folder });
    for (let round = 0; round < 2; round++) {
      const before = made();
      await until(() => made() > before + 5);
      await redis.down();
      await redis.up();
    }
    const { code, stderr } = await run;
    expect(stderr).toContain('the connection is lost; trying again');
    expect(stderr).toContain('is back');
    expect(code).toBe(0);
    expect(lines('queued')).toEqual(lines('alone'));
  });

  it.skipIf(!hasRedis)('are taken up by the same command when it was killed', async () => {
    const { folder, url, queued, alone, made, lines } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    startWorker(url);
    const first = start(queued, { cwd: folder });
    await until(() => made() > 10);
    await kill(first);
    const { code, stderr } = await rolloutViewer(queued, { cwd: folder });
    expect(stderr).toMatch(/80 of 80 rollouts in queued, \d+ of them from before/);
    expect(code).toBe(0);
    expect(lines('queued')).toEqual(lines('alone'));
  });

  it.skipIf(!hasRedis)('end a step early, and continue what workers handed over unfinished', async () => {
    const { folder, url, queued, alone, made, lines } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    startWorker(url);
    const first = await rolloutViewer([...queued, '--enough', '10'], { cwd: folder });
    expect(first.stderr).toContain('ended by --enough 10');
    expect(made()).toBeGreaterThanOrEqual(10);
    expect(made()).toBeLessThan(TASKS * N);
    const { code, stderr } = await rolloutViewer(queued, { cwd: folder });
    expect(stderr).toContain(`${TASKS * N} of ${TASKS * N} rollouts in queued`);
    expect(code).toBe(0);
    expect(lines('queued').map(({ uid, score, status }) => [uid, score, status])).toEqual(
      lines('alone').map(({ uid, score, status }) => [uid, score, status]),
    );
  });

  it.skipIf(!hasRedis)('may be episodes of an environment', async () => {
    const { folder, url, queued, alone, lines } = workplace();
    const env = ['--env', 'tool', '--agent', 'tool', '--reward', 'gsm8k'];
    busiest.sandbox = 0;
    await rolloutViewer([...alone, ...env], { cwd: folder });
    startWorker(url);
    const { code, stderr } = await rolloutViewer([...queued, ...env], { cwd: folder });
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('rollouts in queued')]);
    const shown = (out: 'queued' | 'alone') =>
      lines(out).map(({ uid, score, messages }) => ({
        uid,
        score,
        messages: messages.map(({ role }: { role: string }) => role),
      }));
    expect(shown('queued')).toEqual(shown('alone'));
    expect(shown('queued')).toHaveLength(TASKS * N);
    expect(busiest.sandbox).toBeGreaterThan(0);
  });

  it.skipIf(!hasRedis)('take the key from their own environment: no secret lies in the Redis', async () => {
    const { folder, url, args, queued } = workplace();
    start(['worker', '--queue', url], { env: { ROLLOUT_VIEWER_API_KEY: 'sk-of-the-worker-4711' } });
    const { code } = await rolloutViewer(queued, { cwd: folder, env: { OPENAI_API_KEY: 'sk-of-the-run-4712' } });
    expect(code).toBe(0);
    const kept = redis.content();
    expect(kept).toContain('code_interpreter');
    expect(kept).not.toContain('sk-of-the');
    writeFileSync(join(folder, 'tools.yaml'), 'tools: [{class_name: calculator, config: {api_key: sk-in-the-file}}]');
    const refused = await rolloutViewer([...args, '--out', 'other', '--queue', url], { cwd: folder });
    expect(refused.stderr).toContain('api_key would be stored in the queue');
  });

  it.skipIf(!hasRedis)('send a key to the address that they name themselves, and to no address of a run', async () => {
    const heard: (string | undefined)[] = [];
    const listening = await scriptedModel(async (_, { headers }) => {
      heard.push(headers.authorization);
      return { text: '#### 1' };
    });
    try {
      const env = { ROLLOUT_VIEWER_API_KEY: 'sk-of-the-worker', AWS_SECRET_ACCESS_KEY: 'of the cloud' };
      const { folder, url } = workplace();
      const task = {
        prompt: '1',
        ground_truth: '1',
        data_source: 'gsm8k',
        extra_info: { interaction_kwargs: { name: 'model_user' } },
      };
      writeFileSync(join(folder, 'tasks.jsonl'), JSON.stringify(task));
      const config = `{model_url: "${listening.url}", model: m, persona: p, stop_word: "#### 1"}`;
      writeFileSync(
        join(folder, 'users.yaml'),
        `interaction: [{class_name: model_user, name: model_user, config: ${config}}]`,
      );
      const args = [
        'rollout',
        'tasks.jsonl',
        '--model',
        'm',
        '--model-url',
        listening.url,
        '--interaction-config',
        'users.yaml',
      ];
      const first = start(['worker', '--queue', url], {
        env: { ...env, ROLLOUT_VIEWER_USER_API_KEY: 'sk-of-the-user' },
      });
      expect((await rolloutViewer([...args, '--out', 'a', '--queue', url], { cwd: folder })).code).toBe(0);
      expect(new Set(heard)).toEqual(new Set([undefined]));
      await kill(first);
      const named = ['worker', '--queue', url, '--model-url', listening.url];
      const own = { ROLLOUT_VIEWER_USER_API_KEY: 'sk-of-the-user', ROLLOUT_VIEWER_USER_MODEL_URL: listening.url };
      start(named, { env: { ...env, ...own } });
      expect((await rolloutViewer([...args, '--out', 'b', '--queue', url], { cwd: folder })).code).toBe(0);
      expect(new Set(heard)).toEqual(new Set([undefined, 'Bearer sk-of-the-worker', 'Bearer sk-of-the-user']));
    } finally {
      await listening.close();
    }
  });

  it.skipIf(!hasRedis)('are refused where nobody could make them: no Redis', async () => {
    const { folder, queued } = workplace();
    const away = queued.map((one) => (one.startsWith('redis:') ? 'redis://127.0.0.1:9' : one));
    const { code, stderr } = await rolloutViewer(away, { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining('redis://127.0.0.1:9: connect ECONNREFUSED')]);
  });
});

const OWN = {
  'tools.yaml': 'tools: [{class_name: "./mine.mjs#Mine", config: {}}]',
  'mine.mjs': `import { twice } from './twice.mjs';
export class Mine {
  getOpenAIToolSchema() {
    return { type: 'function', function: { name: 'code_interpreter', description: '', parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] } } };
  }
  async create(id) { return id ?? 'x'; }
  async execute(_id, { code }) { return [String(twice(Number(/\\d+/.exec(code)[0])) / 2), 0, {}]; }
  async calcReward() { return 0; }
  async release() {}
}`,
  'twice.mjs': 'export const twice = (number) => 2 * number;',
};

describe(`a user's own tools on workers${noRedis}`, () => {
  it.skipIf(!hasRedis)('run only where they are allowed and are the same to the byte', async () => {
    const { folder, url, queued, alone, lines } = workplace(OWN);
    const yes = ['--yes'];
    expect((await rolloutViewer([...alone, ...yes], { cwd: folder })).code).toBe(0);
    const other = directoryWith({ 'mine.mjs': OWN['mine.mjs'], 'twice.mjs': `${OWN['twice.mjs']} // another` });
    const same = directoryWith({ 'mine.mjs': OWN['mine.mjs'], 'twice.mjs': OWN['twice.mjs'] });
    startWorker(url);
    startWorker(url, '--allow-tools', other);
    const run = start([...queued, ...yes], { cwd: folder });
    const ended = new Promise((resolve) => run.child.once('exit', resolve));
    // The run has heard of both before one is there that may work for it.
    await until(() => /is refused: mine\.mjs, twice\.mjs: .*--allow-tools DIR/.test(run.said()));
    await until(() => /is refused: twice\.mjs: its sha256 is \w{12}… here, \w{12}… is the run's/.test(run.said()));
    startWorker(url, '--allow-tools', same);
    expect(await ended).toBe(0);
    expect(lines('queued')).toEqual(lines('alone'));
    expect(readdirSync(join(folder, 'queued'))).toContain('1.jsonl');
    expect(redis.content()).not.toContain('2 * number');
    expect(readFileSync(join(folder, 'twice.mjs'), 'utf8')).toBe(OWN['twice.mjs']);
  });
});
