// Anyone with access to the Redis may write anything: workers and runs continue, and report what they put aside.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type SharedRedis, shareRedis } from '../../src/cluster/redis.ts';
import { headOf, Runs } from '../../src/cluster/runs.ts';
import { receivedSettings, SentRun } from '../../src/cluster/sent-run.ts';
import { Texts } from '../../src/cluster/texts.ts';
import { directoryWith, rolloutViewer } from '../program.ts';
import { killAll, start, startWorker, until } from './processes.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

let redis: TestRedis;
let shared: SharedRedis;
beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  shared = await shareRedis(redis.url, () => {});
});
afterEach(async () => {
  await killAll();
  await shared?.redis.flushall();
});
afterAll(async () => {
  await shared?.close();
  await redis?.down();
});

const PREFIX = 'rollout-viewer';
const LINE = {
  input: 'user\n1\nassistant\n',
  output: '#### 1',
  gts: '1',
  score: 1,
  step: 1,
  data_source: 'openai/gsm8k',
};
const dump = () => directoryWith({ 'dump/1.jsonl': `${JSON.stringify(LINE)}\n`.repeat(20) });

const rescored = (cwd: string) =>
  rolloutViewer(['rescore', 'dump', '--reward', 'gsm8k', '--queue', redis.url, '--json'], { cwd });

describe(`a stranger at the Redis${noRedis}`, () => {
  it.skipIf(!hasRedis)('stops neither workers nor runs by invalid entries', async () => {
    const entries = ['', 'no json', '[', 'null', '{}', '{"id":"x"}', '[1]', `{"id":"${'x'.repeat(100_000)}"}`];
    for (const [at, text] of entries.entries()) {
      await shared.redis.hset(`${PREFIX}:runs`, `e${at}`, text);
      await shared.redis.hset(`${PREFIX}:workers`, `e${at}`, text);
      await shared.redis.lpush(`${PREFIX}:poisoned`, text);
    }
    startWorker(redis.url);
    const cwd = dump();
    const { code, stdout, stderr } = await rescored(cwd);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout.trim().split('\n')).toHaveLength(20);
    const { stdout: told } = await rolloutViewer(['queue', redis.url]);
    expect(told).toContain('put aside');
    expect(told).toContain('no json');
    expect(await shared.redis.hlen(`${PREFIX}:runs`)).toBe(0);
  });

  it.skipIf(!hasRedis)('stops nobody by keys of another type', async () => {
    for (const name of ['runs', 'runs:until', 'workers', 'workers:until', 'poisoned', 'aside', 'limit:sandbox'])
      await shared.redis.set(`${PREFIX}:${name}`, 'a text');
    const cwd = dump();
    startWorker(redis.url);
    const running = rescored(cwd);
    expect((await running).code).toBe(0);
    expect((await rolloutViewer(['queue', redis.url])).stdout).toContain('a string, expected a');
  });

  it.skipIf(!hasRedis)('says nothing to a terminal but words', async () => {
    const evil = '\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b2J\u202e';
    const head = { ...headOf({ id: 'x', kind: 'scores', what: evil }), version: evil, host: evil };
    await new Runs(shared).sign(head);
    const beat = {
      id: 'w',
      version: evil,
      host: evil,
      pid: 1,
      started: evil,
      concurrency: 1,
      done: 0,
      failed: 0,
      perMinute: 0,
    };
    const more = {
      runs: ['x'],
      refused: [{ run: evil, why: evil }],
      inFlight: 1,
      stages: { x: { [evil]: 1 } },
      at: [],
    };
    await shared.redis.hset(`${PREFIX}:workers`, 'w', JSON.stringify({ ...beat, ...more }));
    await shared.redis.lpush(`${PREFIX}:poisoned`, JSON.stringify({ run: evil, id: evil, reason: evil, at: evil }));
    await shared.redis.hset(`${PREFIX}:runs`, evil, evil);
    const { stdout } = await rolloutViewer(['queue', redis.url]);
    expect(stdout.match(/␛/g)?.length).toBeGreaterThan(6);
    expect(stdout).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
  });

  it.skipIf(!hasRedis)('names no file of a worker by settings, texts or folders', async () => {
    const folder = directoryWith({ secret: 'of the worker' });
    const texts = new Texts(shared, folder);
    const paths = [
      'tools',
      'tool_config_path',
      'interaction_config',
      'interaction_config_path',
      'chat_template',
      'tokenizer',
      'python',
      'out',
      'rollout_data_dir',
    ];
    for (const key of paths) {
      const sent = SentRun.parse({ settings: { model: 'm', [key]: join(folder, 'secret') }, files: [], own: [] });
      const settings = await receivedSettings(sent, texts, folder, {});
      expect(JSON.stringify(settings)).not.toContain('secret');
    }
    for (const sha256 of ['../secret', `${folder}/secret`, '..'])
      expect(() =>
        SentRun.parse({ settings: {}, files: [{ key: 'tools', name: 'a', content: { sha256 } }], own: [] }),
      ).toThrow();
    expect(() => SentRun.parse({ settings: { agent: 3 }, files: [], own: [] })).toThrow('agent');
  });

  it.skipIf(!hasRedis)('has no worker end by data of any shape', async () => {
    const runs = new Runs(shared);
    const said = startWorker(redis.url);
    const samples = fc.sample(fc.json(), { numRuns: 30, seed: 7 });
    for (const [at, text] of samples.entries()) {
      const id = `run${at}`;
      await runs.sign(headOf({ id, kind: (['rollouts', 'executions', 'scores'] as const)[at % 3]!, what: 'x' }));
      await shared.redis.set(`${PREFIX}:run:${id}:data`, text);
    }
    const cwd = dump();
    expect((await rescored(cwd)).code).toBe(0);
    expect(said.child.exitCode).toBeNull();
  });
});

describe(`a full Redis${noRedis}`, () => {
  it.skipIf(!hasRedis)('is waited for: no refusal becomes a result or a score', async () => {
    const full = await TestRedis.start('--maxmemory', '4mb', '--maxmemory-policy', 'noeviction');
    const own = await shareRedis(full.url, () => {});
    try {
      const cwd = directoryWith({});
      const lines = Array.from({ length: 300 }, (_, at) =>
        JSON.stringify({ ...LINE, input: `user\n${at}${'x'.repeat(8000)}\nassistant\n` }),
      );
      writeFileSync(join(cwd, '1.jsonl'), `${lines.join('\n')}\n`);
      startWorker(full.url);
      // Somebody else's keys leave no room, and go after a while.
      for (let at = 0; at < 40; at++) await own.redis.set(`other:${at}`, 'x'.repeat(100_000)).catch(() => {});
      const args = ['rescore', '1.jsonl', '--reward', 'gsm8k', '--queue', full.url, '--json', '--concurrency', '300'];
      const run = start(args, { cwd });
      await until(() => run.said().includes('Redis refuses') || run.child.exitCode !== null);
      await own.redis.del(...Array.from({ length: 40 }, (_, at) => `other:${at}`));
      const code = await run.ended;
      expect(run.said()).toContain('Redis refuses');
      const made = dumpLinesOf(run.wrote());
      expect([code, made.length, made.filter(({ status }) => status === 'same').length]).toEqual([0, 300, 300]);
    } finally {
      await own.close();
      await full.down();
    }
  });
});

const dumpLinesOf = (text: string): { status: string }[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
