import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shareRedis } from '../src/cluster/redis.ts';
import { killReplays, killRollouts } from '../test/cluster/kills.ts';
import { hasRedis, TestRedis } from '../test/cluster/redis-server.ts';
import { scriptedModel } from '../test/engine/scripted-model.ts';
import { bin, cpuSeconds, figure } from './support/measure.ts';

/** `npm run bench cluster -- --whole` takes the numbers of the goals; without it a tenth of them. */
const isWhole = process.argv.includes('--whole');
const TURNS = 3;
const DELAY_MS = 300;
/** Rollouts in flight a worker; their number is whole waves of all workers. */
const PLACES = 36;
const ROLLOUTS = PLACES * 4 * (isWhole ? 70 : 5);
/** Rollouts whose processor time is reported, and how many of them are in flight. */
const COSTED = isWhole ? 10_000 : 4_000;
const BUSY = 256;
const CALLS = isWhole ? 100_000 : 3_000;

/** The model has a separate process, as in reality, so its processor time is not counted. */
if (process.argv[2] === '--serve-model') {
  const server = await scriptedModel(
    ({ messages }) => {
      const turn = messages.filter(({ role }: { role: string }) => role === 'assistant').length;
      const delay = DELAY_MS;
      if (turn === TURNS - 1) return { text: '#### 3', delay };
      const calls = [{ name: 'calculator', arguments: '{"a": 1, "b": 2, "op": "+"}' }];
      return { text: 'Let me compute that. '.repeat(10), calls, delay };
    },
    { keepRequests: false },
  );
  process.send!(server.url);
}

export async function run(): Promise<void> {
  if (!hasRedis) return console.log('skipped: there is no redis-server here');
  const redis = await TestRedis.start();
  const model = fork(fileURLToPath(import.meta.url), ['--serve-model']);
  const url = new Promise<string>((resolve) => model.once('message', (message) => resolve(String(message))));
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-bench-'));
  const only = process.argv.find((one) => one.startsWith('--only='))?.slice('--only='.length);
  const parts: Record<string, () => Promise<void>> = {
    cost: async () => costs(redis, folder, await url),
    makespan: async () => makespans(redis, folder, await url),
    replays: () => replays(redis, folder),
    cap: () => cap(redis),
    kills: () => kills(redis),
  };
  try {
    for (const [name, part] of Object.entries(parts)) if (only === undefined || only === name) await part();
  } finally {
    model.kill();
    await redis.down();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measured {
  /** Of the run, as it says itself. */
  seconds: number;
  processor: number;
  code: number | null;
  stderr: string;
}

/** A command to its end, with its processor time as far as it was seen. */
function measured(args: readonly string[], cwd: string): Promise<Measured> {
  const child = spawn(process.execPath, [bin, ...args], { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  let processor = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const looking = setInterval(() => {
    processor = usedBy(child) ?? processor;
  }, 50);
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearInterval(looking);
      resolve({ seconds: Number(/, ([\d.]+) s\b/.exec(stderr)?.[1]), processor, code, stderr });
    }),
  );
}

const usedBy = ({ pid }: ChildProcess): number | null => {
  try {
    return cpuSeconds(pid!);
  } catch {
    return null;
  }
};

async function workersAt(url: string, count: number, ...more: string[]): Promise<ChildProcess[]> {
  const workers = Array.from({ length: count }, () =>
    spawn(process.execPath, [bin, 'worker', '--queue', url, ...more], { stdio: ['ignore', 'ignore', 'pipe'] }),
  );
  await Promise.all(workers.map(({ stderr }) => new Promise((resolve) => stderr.once('data', resolve))));
  return workers;
}

async function end(workers: readonly ChildProcess[]): Promise<void> {
  for (const worker of workers) {
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.kill('SIGTERM');
    await ended;
  }
}

/** A run of rollouts with workers, and what it cost in seconds of a processor. */
async function queuedRun(
  redis: TestRedis,
  folder: string,
  asked: readonly string[],
  name: string,
  workers: number,
  places: number,
) {
  const url = `${redis.url}?prefix=${name}`;
  const started = await workersAt(url, workers, '--concurrency', String(places));
  const used = () => started.reduce((sum, one) => sum + (usedBy(one) ?? 0), 0);
  const before = { workers: used(), redis: redis.processor() };
  const args = [...asked, '--out', name, '--concurrency', String(2 * workers * places), '--queue', url];
  const run = await measured(args, folder);
  const cost = { run: run.processor, workers: used() - before.workers, redis: redis.processor() - before.redis };
  await end(started);
  if (run.code !== 0) throw new Error(run.stderr);
  return { seconds: run.seconds, cost };
}

function rolloutsOf(folder: string, model: string, count: number): string[] {
  const task = JSON.stringify({ prompt: 'What is 1 + 2?', ground_truth: '3', data_source: 'gsm8k' });
  writeFileSync(join(folder, `tasks${count}.jsonl`), `${task}\n`.repeat(count / 4));
  writeFileSync(join(folder, 'tools.yaml'), 'tools: [{class_name: calculator}]');
  return ['rollout', `tasks${count}.jsonl`, '--model', 'm', '--model-url', model, '--tools', 'tools.yaml', '-n', '4'];
}

async function makespans(redis: TestRedis, folder: string, model: string): Promise<void> {
  const asked = rolloutsOf(folder, model, ROLLOUTS);
  for (const count of [1, 2, 4]) {
    const { seconds } = await queuedRun(redis, folder, asked, `of${count}`, count, PLACES);
    const ideal = (ROLLOUTS * TURNS * DELAY_MS) / 1000 / (count * PLACES);
    const what = `${ROLLOUTS} rollouts, ${count === 1 ? '1 worker' : `${count} workers`}`;
    figure(what, `${seconds.toFixed(1)} s`, `ideal ${ideal.toFixed(1)} s`, seconds / ideal, '≤ 1.15 ×');
  }
}

/** Two runs of different length each, with a queue and without: what they differ by has no start of a process in it. */
async function costs(redis: TestRedis, folder: string, model: string): Promise<void> {
  const [few, many] = [COSTED / 4, COSTED];
  const each = (seconds: number) => (seconds * 1000) / (many - few);
  const alone = async (count: number) => {
    const args = [...rolloutsOf(folder, model, count), '--out', `alone${count}`, '--concurrency', String(BUSY)];
    return (await measured(args, folder)).processor;
  };
  const queued = async (count: number) =>
    (await queuedRun(redis, folder, rolloutsOf(folder, model, count), `cost${count}`, 1, BUSY)).cost;
  const without = each(-(await alone(few)) + (await alone(many)));
  const [short, long] = [await queued(few), await queued(many)];
  const parts = {
    run: each(long.run - short.run),
    workers: each(long.workers - short.workers),
    Redis: each(long.redis - short.redis),
  };
  const more = parts.run + parts.workers + parts.Redis - without;
  figure(
    'processor time of a rollout',
    `+${more.toFixed(2)} ms`,
    `without a queue ${without.toFixed(2)} ms`,
    null,
    '≤ 2 ms',
  );
  const told = Object.entries(parts).map(([name, ms]) => `${name} ${ms.toFixed(2)}`);
  console.log(`    ${told.join(', ')} ms; ${await redisBytes(redis, many + few)}`);
}

/** The most that a rollout in flight takes there, and the size that it leaves in the file. */
async function redisBytes(redis: TestRedis, rollouts: number): Promise<string> {
  const shared = await shareRedis(redis.url, () => {});
  const info = await shared.redis.info();
  await shared.close();
  const value = (key: string) => Number(new RegExp(`${key}:(\\d+)`).exec(info)?.[1]);
  return `Redis: peak ${Math.round(value('used_memory_peak') / 1024)} kB, file ${Math.round(value('aof_current_size') / rollouts)} bytes a rollout`;
}

async function replays(redis: TestRedis, folder: string): Promise<void> {
  const call = '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(1)"}}\n</tool_call>';
  const line = {
    input: '<|im_start|>user\nGo.<|im_end|>\n<|im_start|>assistant\n',
    output: `${call}<|im_end|>\n<|im_start|>user\n<tool_response>\n1\n</tool_response><|im_end|>\n<|im_start|>assistant\n1<|im_end|>`,
    gts: '1',
    score: 1,
    step: 1,
  };
  writeFileSync(
    join(folder, '1.jsonl'),
    Array.from({ length: CALLS }, (_, uid) => JSON.stringify({ ...line, uid: `u${uid}` })).join('\n'),
  );
  const timed = async (args: readonly string[]) => {
    const begun = performance.now();
    const { code, stderr } = await measured(['replay', '1.jsonl', '--json', ...args], folder);
    if (code !== 0) throw new Error(stderr);
    return (performance.now() - begun) / 1000;
  };
  const alone = await timed(['--journal', join(folder, 'alone')]);
  const url = `${redis.url}?prefix=replays`;
  const workers = await workersAt(url, 1);
  const queued = await timed(['--queue', url, '--journal', join(folder, 'queued')]);
  await end(workers);
  figure(
    `${CALLS} replays of print(1)`,
    `${(CALLS / queued).toFixed(0)}/s`,
    `one process: ${(CALLS / alone).toFixed(0)}/s`,
    alone / queued,
    '≥ 1 ×',
  );
}

/** The limit of a sandbox with many in flight, while workers are killed. */
async function cap(redis: TestRedis): Promise<void> {
  const { busiest, lines, kills } = await killRollouts(redis, {
    kills: 4,
    restarts: 0,
    tasks: 250,
    places: 64,
    cap: 10,
  });
  const what = `4 workers × 64 in flight, ${kills} kills`;
  figure(`programs in the sandbox, ${what}`, `${busiest}`, `limit 10, ${lines} rollouts`, null, 'the limit');
}

async function kills(redis: TestRedis): Promise<void> {
  const rounds = isWhole ? 10 : 1;
  const sum = { kills: 0, restarts: 0, rollouts: 0, lines: 0, uids: 0, calls: 0, entries: 0, records: 0, equal: 0 };
  for (let round = 0; round < rounds; round++) {
    const awayMs = round === 0 && isWhole ? 60_000 : 0;
    const made = await killRollouts(redis, { kills: 8, restarts: 1, tasks: 250, places: 8, cap: 8, awayMs });
    const run = await killReplays(redis, { kills: 2, restarts: 1, calls: 300 });
    for (const one of [made, run] as Record<string, number | boolean>[])
      for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += Number(one[key] ?? 0);
    if (made.isEqual) sum.equal++;
    if (isWhole) console.log(`    round ${round + 1} of ${rounds}: ${JSON.stringify(made)} ${JSON.stringify(run)}`);
  }
  const what = `${sum.kills} kills, ${sum.restarts} restarts of Redis`;
  figure(what, `${sum.lines} lines`, `${sum.rollouts} rollouts, ${sum.uids} uids`, null, 'each once');
  figure('calls in the journal', `${sum.entries}`, `${sum.calls} calls, ${sum.records} records`, null, 'each once');
  figure('dumps equal to those of one process', `${sum.equal}`, `of ${rounds}`, null, 'all');
}
