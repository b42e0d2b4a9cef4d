// Rollouts that workers make behind a real Redis: the dump is that of one process, whoever is killed meanwhile.
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, scriptedModel } from '../engine/scripted-model.ts';
import { bin, directoryWith, rolloutViewer } from '../program.ts';
import { dumpLines } from '../support/dump-lines.ts';
import { hasRedis, noRedis, TestRedis } from './redis-server.ts';

const TASKS = 40;
const N = 2;
const CAP = 3;

let redis: TestRedis;
let model: ScriptedModel;
let sandbox: Server;
let inFlight = 0;
let most = 0;
const workers = new Set<ChildProcess>();

beforeAll(async () => {
  if (!hasRedis) return;
  redis = await TestRedis.start();
  model = await scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last.role === 'tool') return { text: `#### ${last.content.trim()}`, delay: 20 };
      const calls = [{ name: 'code_interpreter', arguments: JSON.stringify({ code: `print(${last.content})` }) }];
      return { calls, delay: 20 };
    },
    { keepRequests: false },
  );
  sandbox = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setTimeout(resolve, 40));
    inFlight--;
    const stdout = `${/\d+/.exec(JSON.parse(body).code)}\n`;
    const run_result = { status: 'Finished', execution_time: 0, return_code: 0, stdout, stderr: '' };
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ status: 'Success', run_result }));
  });
  await new Promise<void>((resolve) => sandbox.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await Promise.all([...workers].map((one) => kill(one)));
});
afterAll(async () => {
  await redis?.down();
  await model?.close();
  sandbox?.close();
  sandbox?.closeAllConnections();
});

async function kill(worker: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
  workers.delete(worker);
  const ended = new Promise<number | null>((resolve) => worker.once('exit', (code) => resolve(code)));
  worker.kill(signal);
  return worker.exitCode ?? ended;
}

function worker(url: string): ChildProcess {
  const child = spawn(process.execPath, [bin, 'worker', '--queue', url, '--concurrency', '8'], { stdio: 'ignore' });
  workers.add(child);
  return child;
}

/** A run of its own: its folder, its keys at the Redis. */
let runs = 0;
function workplace() {
  const prefix = `test${runs++}`;
  const folder = directoryWith({
    'tasks.jsonl': Array.from({ length: TASKS }, (_, at) =>
      JSON.stringify({ prompt: String(at), ground_truth: String(at), data_source: 'gsm8k' }),
    ).join('\n'),
    'tools.yaml': `tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "http://127.0.0.1:${(sandbox.address() as AddressInfo).port}", num_workers: 64, rate_limit: ${CAP}}}]`,
  });
  const url = `${redis.url}?prefix=${prefix}`;
  const args = [
    ...['rollout', 'tasks.jsonl', '--model', 'm', '--model-url', model.url, '--tools', 'tools.yaml'],
    ...['-n', String(N), '--concurrency', '64'],
  ];
  const queued = [...args, '--out', 'queued', '--queue', url];
  return { folder, url, queued, alone: [...args, '--out', 'alone'] };
}

const shown = (path: string) =>
  dumpLines(path)
    .map(({ request_id, duration, generations, tool_calls, ...line }) => ({
      ...line,
      generations: generations.map(({ started, duration, ...one }: Record<string, unknown>) => one),
      tool_calls: tool_calls.map(({ started, duration, waited, ...one }: Record<string, unknown>) => one),
    }))
    .sort((a, b) => a.uid.localeCompare(b.uid));

const until = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
};
const made = (folder: string) => dumpLines(join(folder, 'queued/1.jsonl')).length;

describe(`rollouts behind a queue${noRedis}`, () => {
  it.skipIf(!hasRedis)('are those of one process, and the limit of the sandbox is one for all workers', async () => {
    const { folder, url, queued, alone } = workplace();
    expect((await rolloutViewer(alone, { cwd: folder })).code).toBe(0);
    most = 0;
    worker(url);
    worker(url);
    const { code, stderr } = await rolloutViewer(queued, { cwd: folder });
    expect(stderr).toContain(`${TASKS * N} of ${TASKS * N} rollouts in queued`);
    expect(code).toBe(0);
    expect(most).toBe(CAP);
    expect(shown(join(folder, 'queued/1.jsonl'))).toEqual(shown(join(folder, 'alone/1.jsonl')));
    const status = JSON.parse((await rolloutViewer(['queue', url, '--json'])).stdout);
    expect(status).toMatchObject({ waiting: 0, active: 0, failed: 0, poisoned: [] });
    expect(status.workers.map(({ done }: { done: number }) => done > 0)).toEqual([true, true]);
  });

  it.skipIf(!hasRedis)('are each in the dump once, though workers are killed', async () => {
    const { folder, url, queued, alone } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    const first = [worker(url), worker(url)];
    const run = rolloutViewer(queued, { cwd: folder });
    for (const one of first) {
      const before = made(folder);
      await until(() => made(folder) > before + 5);
      await kill(one);
      worker(url);
    }
    expect((await run).stderr).toContain(`${TASKS * N} of ${TASKS * N} rollouts in queued`);
    expect(shown(join(folder, 'queued/1.jsonl'))).toEqual(shown(join(folder, 'alone/1.jsonl')));
  });

  it.skipIf(!hasRedis)('survive a Redis that is killed and started again, and say so', async () => {
    const { folder, url, queued, alone } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    worker(url);
    const run = rolloutViewer(queued, { cwd: folder });
    for (let round = 0; round < 2; round++) {
      const before = made(folder);
      await until(() => made(folder) > before + 5);
      await redis.down();
      await redis.up();
    }
    const { code, stderr } = await run;
    expect(stderr).toContain('the connection is lost; trying again');
    expect(stderr).toContain('is back');
    expect(code).toBe(0);
    expect(shown(join(folder, 'queued/1.jsonl'))).toEqual(shown(join(folder, 'alone/1.jsonl')));
  });

  it.skipIf(!hasRedis)('are taken up by the same command when it was killed', async () => {
    const { folder, url, queued, alone } = workplace();
    await rolloutViewer(alone, { cwd: folder });
    worker(url);
    const first = spawn(process.execPath, [bin, ...queued], { cwd: folder, stdio: 'ignore' });
    await until(() => made(folder) > 10);
    await kill(first);
    const { code, stderr } = await rolloutViewer(queued, { cwd: folder });
    expect(stderr).toMatch(/80 of 80 rollouts in queued, \d+ of them from before/);
    expect(code).toBe(0);
    expect(shown(join(folder, 'queued/1.jsonl'))).toEqual(shown(join(folder, 'alone/1.jsonl')));
  });

  it.skipIf(!hasRedis)('are refused where nobody could make them: no Redis', async () => {
    const { folder, queued } = workplace();
    const away = queued.map((one) => (one.startsWith('redis:') ? 'redis://127.0.0.1:9' : one));
    const { code, stderr } = await rolloutViewer(away, { cwd: folder });
    expect([code, stderr]).toEqual([2, expect.stringContaining('redis://127.0.0.1:9: connect ECONNREFUSED')]);
  });
});
