// 1,000 rollouts with a tool that fails and a model that drops its streams; killed in the middle; continued.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { spawn as spawnTerminal } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpackLine } from '../../src/core/formats/engine-line.ts';
import type { JsonObject } from '../../src/core/json/value.ts';
import { bin, directoryWith, jsonLines, rolloutViewer } from '../program.ts';
import { type Body, type ScriptedModel, scriptedModel } from './scripted-model.ts';

const TASKS = 250;
const N = 4;

let drops = 0;
let turns = 0;
let toolCalls = 0;
let model: ScriptedModel;
let sandbox: Server;

/** Every twentieth stream is dropped; the tool is called once, then the answer is given. */
function reply({ messages }: Body) {
  if (turns++ % 20 === 7) {
    drops++;
    return { text: 'half of a turn', dropAfter: 1 };
  }
  const last = messages.at(-1);
  if (last.role === 'tool') return { text: `#### ${last.content.trim()}` };
  return { calls: [{ name: 'code_interpreter', arguments: JSON.stringify({ code: `print(${last.content})` }) }] };
}

beforeAll(async () => {
  model = await scriptedModel(reply, { keepRequests: false });
  // Every tenth program takes too long.
  sandbox = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { code } = JSON.parse(Buffer.concat(parts).toString());
    const fails = toolCalls++ % 10 === 4;
    const run_result = {
      status: 'Finished',
      execution_time: 0,
      return_code: 0,
      stdout: `${/\d+/.exec(code)}\n`,
      stderr: '',
    };
    const tooLong = { ...run_result, status: 'TimeLimitExceeded', return_code: null, stdout: '' };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        fails ? { status: 'Failed', message: '', run_result: tooLong } : { status: 'Success', run_result },
      ),
    );
  });
  await new Promise<void>((resolve) => sandbox.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await model.close();
  sandbox.close();
  sandbox.closeAllConnections();
});

const workplace = (tasks = TASKS) =>
  directoryWith({
    'tasks.jsonl': Array.from({ length: tasks }, (_, i) =>
      JSON.stringify({ prompt: String(i), ground_truth: String(i), data_source: 'gsm8k' }),
    ).join('\n'),
    'tools.yaml': `tools:\n  - class_name: code_interpreter\n    config: {sandbox_fusion_url: "http://127.0.0.1:${(sandbox.address() as AddressInfo).port}", num_workers: 64, rate_limit: 64}\n`,
    'config.yaml': `model: m\nn: ${N}\nconcurrency: 64\nbatch_size: 100\ntools: tools.yaml\nout: dump\n`,
  });
const args = (...more: string[]) => [
  'rollout',
  'tasks.jsonl',
  '--config',
  'config.yaml',
  '--model-url',
  model.url,
  ...more,
];
const text = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const linesOf = (directory: string) =>
  [1, 2, 3].flatMap((step) => jsonLines(text(join(directory, `dump/${step}.jsonl`))).map(whole));
const whole = (line: Record<string, unknown>): Record<string, unknown> => unpackLine(line as JsonObject, []);

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe('a run of 1,000 rollouts', () => {
  it('killed in the middle and continued, makes every one once', async () => {
    const directory = workplace();
    const first = spawn(process.execPath, [bin, ...args()], { cwd: directory, stdio: 'ignore' });
    const ended = new Promise((resolve) => first.on('exit', resolve));
    const done = () => text(join(directory, 'dump/.rollout-viewer/done.jsonl')).split('\n').length - 1;
    await until(() => done() >= 300 || first.exitCode !== null);
    first.kill('SIGKILL');
    await ended;
    const before = done();
    expect(before).toBeLessThan(TASKS * N);

    const second = await rolloutViewer(args('--resume'), { cwd: directory });
    expect(second.stderr).toMatch(/1000 of 1000 rollouts in dump, \d+ of them from before/);
    expect(second.stderr).not.toContain('Warning');
    expect(second.code).toBe(0);
    expect(Number(/(\d+) of them/.exec(second.stderr)![1])).toBeGreaterThanOrEqual(before);

    const rows = linesOf(directory);
    expect(rows).toHaveLength(TASKS * N);
    expect(new Set(rows.map(({ uid }) => uid)).size).toBe(TASKS * N);
    const groups = rows.map(({ uid }) => (uid as string).split('_')[0]!);
    expect(new Set(groups).size).toBe(TASKS);

    // A failure on the way is a result that the model saw, or a retry that it did not.
    expect(drops).toBeGreaterThan(50);
    expect(rows.every(({ status }) => status === 'SUCCEEDED')).toBe(true);
    const failed = rows.filter(({ tool_calls }) => (tool_calls as { error: string | null }[])[0]!.error !== null);
    expect(failed.length).toBeGreaterThan(50);
    expect(failed.length).toBeLessThan(200);
    for (const { tool_calls, output } of failed) {
      expect((tool_calls as object[])[0]).toMatchObject({ result: 'no stdout here', error: 'timeout' });
      expect(output).toContain('no stdout here');
    }
    expect(rows.filter(({ score }) => score === 1)).toHaveLength(rows.length - failed.length);
  });

  it('broken off with ^C keeps what is done, and can be continued', async () => {
    const directory = workplace();
    const first = spawn(process.execPath, [bin, ...args()], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    first.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => first.on('close', resolve));
    await until(() => linesOf(directory).length >= 50);
    first.kill('SIGINT');
    expect(await ended).toBe(1);
    expect(stderr).toMatch(
      /stopping; finished rollouts are kept[\s\S]*\d+ of 1000 rollouts in dump.*interrupted, --resume continues/,
    );
    expect(existsSync(join(directory, 'dump/.rollout-viewer/lock'))).toBe(false);
    const kept = linesOf(directory).length;
    expect(kept).toBeLessThan(TASKS * N);
    const second = await rolloutViewer(args('--resume'), { cwd: directory });
    expect(second.stderr).toContain(`1000 of 1000 rollouts in dump, ${kept} of them from before`);
    expect(new Set(linesOf(directory).map(({ uid }) => uid)).size).toBe(TASKS * N);
  });
});

describe('a run that is ended while it is set up', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('says so, and makes nothing (%s)', async (signal) => {
    const directory = workplace();
    const away = args('--model-url', 'http://127.0.0.1:9/v1');
    const run = spawn(process.execPath, [bin, ...away], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    run.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    const ended = new Promise<number | null>((resolve) => run.on('close', resolve));
    await until(() => stderr.includes('http://127.0.0.1:9/v1: connect ECONNREFUSED') || run.exitCode !== null);
    run.kill(signal);
    expect(await ended).toBe(1);
    expect(stderr).toContain('interrupted while setting up: no rollout was made');
    expect(existsSync(join(directory, 'dump/.rollout-viewer/lock'))).toBe(false);
  });
});

describe('a run on a terminal', () => {
  it('draws its progress on one line, and leaves none of it behind', async () => {
    const screen = new xterm.Terminal({ cols: 90, rows: 20, allowProposedApi: true });
    const terminal = spawnTerminal(process.execPath, [bin, ...args()], {
      cols: 90,
      rows: 20,
      cwd: workplace(50),
      name: 'xterm-256color',
    });
    const rows = () =>
      Array.from({ length: 20 }, (_, y) => screen.buffer.active.getLine(y)!.translateToString(true)).filter(
        (row) => row !== '',
      );
    let isDrawn = false;
    const written: Promise<void>[] = [];
    terminal.onData((data) => {
      written.push(
        new Promise((resolve) =>
          screen.write(data, () => {
            isDrawn ||= rows().some((row) => /^[▓░]+ \d+\/200 {2}\d+.*\/s .*ETA \d/.test(row));
            resolve();
          }),
        ),
      );
    });
    await new Promise((resolve) => terminal.onExit(resolve));
    await Promise.all(written);
    expect(isDrawn).toBe(true);
    expect(rows().join('')).toMatch(/^rollout-viewer: 200 of 200 rollouts in dump, [\d.]+ s, mean score [\d.]+$/);
  });
});

describe('a run that cannot begin, or does not end well', () => {
  const run = (files: Record<string, string>, ...more: string[]) =>
    rolloutViewer(['rollout', 'tasks.jsonl', ...more], { cwd: directoryWith(files) });
  const task = '{"prompt": "1", "ground_truth": "1", "data_source": "gsm8k"}\n';
  const server = () => ['--model', 'm', '--model-url', model.url];

  it.each([
    ['no model', { 'tasks.jsonl': task }, ['--out', 'o'], '--model-url is missing'],
    [
      'no directory',
      { 'tasks.jsonl': task },
      ['--model', 'm', '--model-url', 'http://127.0.0.1:9/v1'],
      '--out is missing',
    ],
    [
      'no address',
      { 'tasks.jsonl': task },
      ['--model', 'm', '--model-url', 'here', '--out', 'o'],
      'not an http(s) address',
    ],
    [
      'no tasks',
      {},
      ['--model', 'm', '--model-url', 'http://127.0.0.1:9/v1', '--out', 'o'],
      'tasks.jsonl: no such file or directory',
    ],
    [
      'an empty file',
      { 'tasks.jsonl': '\n' },
      ['--model', 'm', '--model-url', 'http://127.0.0.1:9/v1', '--out', 'o'],
      'no task in it',
    ],
    [
      'an unknown grammar',
      { 'tasks.jsonl': task },
      ['--model', 'm', '--model-url', 'http://x/v1', '--out', 'o', '--tool-format', 'morse'],
      "unknown tool format 'morse'; known: hermes",
    ],
    [
      'a data source without a reward',
      { 'tasks.jsonl': '{"prompt": "1", "data_source": "new"}' },
      ['--model', 'm', '--model-url', 'http://x/v1', '--out', 'o'],
      "no reward function for data_source 'new'",
    ],
    [
      'an unknown reward function, whatever the tasks name',
      { 'tasks.jsonl': task },
      ['--model', 'm', '--model-url', 'http://x/v1', '--out', 'o', '--reward', 'gsmk8'],
      "unknown reward function 'gsmk8'",
    ],
    ['an invalid number', { 'tasks.jsonl': task }, ['--temperature', 'hot'], '--temperature hot'],
    [
      'exact ids without a tokenizer',
      { 'tasks.jsonl': task },
      ['--model', 'm', '--model-url', 'http://x/v1', '--out', 'o', '--api', 'generate'],
      'give --tokenizer',
    ],
  ])('%s: exit 2 and a message', async (_, files, more, message) => {
    const ended = await run(files as Record<string, string>, ...more);
    expect(ended.stderr).toContain(message);
    expect(ended.code).toBe(2);
  });

  it('a bad task is reported and left out; the others are made', async () => {
    const ended = await run({ 'tasks.jsonl': `{"prompt": \n${task}` }, ...server(), '--out', 'o', '--json');
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('tasks.jsonl:1: not JSON');
    expect(jsonLines(ended.stdout)).toMatchObject([{ task: 0, status: 'SUCCEEDED' }]);
  });

  it('a server that refuses everything ends the run, and no rollout is called done', async () => {
    const refusing = await scriptedModel(() => ({ status: 401, body: 'no such key' }));
    const tasks = Array.from({ length: 100 }, (_, i) => `{"prompt": "${i}", "data_source": "gsm8k"}`).join('\n');
    const ended = await run(
      { 'tasks.jsonl': tasks },
      '--model',
      'm',
      '--model-url',
      refusing.url,
      '--out',
      'o',
      '--concurrency',
      '4',
    );
    const asked = refusing.requests.length;
    await refusing.close();
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('no such key');
    expect(ended.stderr).toMatch(/0 of 100 rollouts in o.*given up: the model server did not answer a probe/);
    expect(asked).toBeLessThan(40);
  });
});
