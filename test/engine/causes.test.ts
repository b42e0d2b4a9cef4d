// Each cause of a rollout's trouble made to happen on loopback: what becomes of the rollout, and what --resume makes of it once it is mended.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Unmade } from '../../src/core/dump/unmade.ts';
import { FAULT_TABLE, type RunSummary, runCollection, type Settings } from '../../src/engine/index.ts';
import { openRewards, rescoreRollout } from '../../src/replay/index.ts';
import { findOnPath } from '../../src/sandbox/server/backends/interpreters.ts';
import { directoryWith } from '../program.ts';
import { rowsOf } from '../replay/fixture.ts';

type Mode =
  | 'ok'
  | '400'
  | '401'
  | '429'
  | '500'
  | 'abort'
  | 'content_filter'
  | 'length'
  | 'hung'
  | 'half stream'
  | 'stream without an end'
  | 'no choice'
  | 'no message'
  | 'no token'
  | 'a choice with an error'
  | 'a message with an error'
  | 'text that is lost'
  | 'calls that are not there'
  | 'damaged text'
  | 'an unknown end'
  | 'no JSON'
  | 'closed';

let mode: Mode = 'ok';
let sandboxIsDead = false;
let sandboxHangs = false;
let rewardIsDead = false;
/** The services' texts in place of an answer. */
let sandboxSays: object | null = null;
let rewardSays: object | null = null;
let model: Server;
let services: Server;
const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const listening = (server: Server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  model = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    if (request.method !== 'POST') return void response.end('{"data": []}');
    const { messages } = JSON.parse(text) as { messages: { role: string; content: string }[] };
    const isProbe = messages[0]!.content === 'ping';
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(body));
    const last = messages.at(-1)!;
    const says =
      last.role === 'tool'
        ? `#### ${last.content.trim()}`
        : '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "4"}}\n</tool_call>';
    const answer = (finish_reason: string) =>
      json(200, {
        choices: [{ message: { content: says }, finish_reason }],
        usage: { prompt_tokens: 5, completion_tokens: 5 },
      });
    if (isProbe || mode === 'ok') return answer('stop');
    if (mode === '400') return json(400, { error: { message: 'the model does not take this' } });
    if (mode === '401') return json(401, { error: { message: 'no such key' } });
    if (mode === '429') return json(429, {});
    if (mode === '500') return json(500, {});
    if (mode === 'hung') return;
    const whole = (message: unknown, finish_reason: string, usage = {}) =>
      json(200, { choices: [{ message, finish_reason }], usage });
    if (mode === 'no choice') return json(200, { choices: [] });
    if (mode === 'no message') return whole(null, 'stop', { prompt_tokens: 5, completion_tokens: 5 });
    if (mode === 'no token') return whole({ content: null }, 'stop', { prompt_tokens: 5, completion_tokens: 0 });
    if (mode === 'a choice with an error') {
      const choice = { message: { content: '#### 4' }, finish_reason: 'stop', error: { code: 502 } };
      return json(200, { choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 5 } });
    }
    if (mode === 'a message with an error') return whole({ content: '#### 4', error: 'upstream timeout' }, 'stop');
    if (mode === 'text that is lost')
      return whole({ content: null }, 'stop', { prompt_tokens: 5, completion_tokens: 9 });
    if (mode === 'calls that are not there') return whole({ content: 'I call it.' }, 'tool_calls');
    if (mode === 'an unknown end') return whole({ content: '#### 4' }, 'insufficient_system_resource');
    if (mode === 'damaged text')
      return void response.end(
        Buffer.from('{"choices": [{"message": {"content": "\xff"}, "finish_reason": "stop"}]}', 'latin1'),
      );
    if (mode === 'stream without an end') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.end('data: {"choices": [{"delta": {"content": "#### 4"}}]}\n\n');
    }
    if (mode === 'no JSON') return void response.writeHead(200).end('<html>');
    if (mode === 'closed') return void request.socket.destroy();
    if (mode === 'half stream') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.write('data: {"choices": [{"delta": {"content": "half"}}]}\n\n', () => response.destroy());
    }
    return answer(mode);
  });
  services = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const isReward = request.url === '/reward';
    if (isReward ? rewardIsDead : sandboxIsDead) return void request.socket.destroy();
    if (!isReward && sandboxHangs) return;
    const instead = isReward ? rewardSays : sandboxSays;
    if (instead !== null) return void response.end(JSON.stringify(instead));
    const { code } = JSON.parse(text) as { code?: string };
    const run_result = { status: 'Finished', execution_time: 0, return_code: 0, stdout: `${code}\n`, stderr: '' };
    response.end(JSON.stringify(isReward ? { reward: 0.5 } : { status: 'Success', message: '', run_result }));
  });
  await Promise.all([listening(model), listening(services)]);
});

afterAll(() => {
  for (const server of [model, services]) {
    server.close();
    server.closeAllConnections();
  }
});

const task = (more: object = { ground_truth: '4' }) =>
  JSON.stringify({ prompt: 'What is 2 + 2?', data_source: 'gsm8k', ...more });

function workplace(tasks: string) {
  const directory = directoryWith({
    't.jsonl': tasks,
    'tools.yaml': `tools: [{class_name: code_interpreter, config: {sandbox_fusion_url: "${addressOf(services)}"}}]`,
  });
  const said: string[] = [];
  const run = (more: Partial<Settings> = {}, resume = false, onRollout?: () => void): Promise<RunSummary> =>
    runCollection({
      tasksPath: join(directory, 't.jsonl'),
      settings: {
        model_url: `${addressOf(model)}/v1`,
        model: 'm',
        tools: join(directory, 'tools.yaml'),
        out: join(directory, 'out'),
        n: 2,
        timeout: 60,
        ...more,
      } as Settings,
      resume,
      attempts: { model: 2, backoffMs: 1 },
      ...(onRollout ? { onRollout } : {}),
      say: (message) => said.push(message),
    });
  const rows = () => {
    const out = join(directory, 'out');
    if (!existsSync(out)) return [];
    const files = readdirSync(out).filter((name) => name.endsWith('.jsonl'));
    return files.flatMap((name) =>
      readFileSync(join(out, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    );
  };
  const unmade = () => new Unmade().of([{ path: join(directory, 'out/1.jsonl') }]).flatMap(({ causes }) => causes);
  return { run, rows, said, unmade, out: join(directory, 'out') };
}

const shown = (rows: Record<string, unknown>[]) =>
  rows
    .map(({ input, output, score, status, uid }) => ({ input, output, score, status, uid }))
    .sort((a, b) => String(a.uid).localeCompare(String(b.uid)));

describe('what failed around the model is no score', () => {
  it.each([
    ['400', 'model_refused'],
    ['401', 'model_refused'],
    ['429', 'model_gone'],
    ['500', 'model_gone'],
    ['abort', 'model_aborted'],
    ['hung', 'model_hung'],
    ['half stream', 'model_gone'],
    ['stream without an end', 'model_gone'],
    ['no choice', 'model_gone'],
    ['no message', 'model_gone'],
    ['no token', 'model_gone'],
    ['a choice with an error', 'model_gone'],
    ['a message with an error', 'model_gone'],
    ['text that is lost', 'model_gone'],
    ['calls that are not there', 'model_gone'],
    ['damaged text', 'model_gone'],
    ['an unknown end', 'model_gone'],
    ['no JSON', 'model_gone'],
    ['closed', 'model_gone'],
  ] as const)('%s is %s: no line, said once, and made again', async (trouble, cause) => {
    const { run, rows, said, unmade } = workplace(task());
    mode = trouble;
    const broken = await run(trouble === 'hung' ? { timeout: 2 } : {});
    expect(broken).toMatchObject({ done: 0, failed: 2, ended: null });
    expect(rows()).toEqual([]);
    expect(said.filter((line) => line.includes(`[${cause}`))).toHaveLength(1);
    expect(unmade()).toEqual([cause, cause]);
    expect(broken.faults).toEqual([`2 ${FAULT_TABLE[cause].says}: no line; --resume makes it again`]);
    mode = 'ok';
    expect(await run({}, true)).toMatchObject({ done: 2, failed: 0, unscored: 0, meanScore: 1 });
    expect(unmade()).toEqual([]);
    const clean = workplace(task());
    await clean.run();
    expect(shown(rows())).toEqual(shown(clean.rows()));
  });

  it.each([
    ['a dead sandbox', 'sandbox_fault'],
    ['a dead reward service', 'reward_fault'],
  ] as const)('%s is %s: no line, and made again', async (trouble, cause) => {
    const { run, rows, said } = workplace(task());
    const settings: Partial<Settings> =
      cause === 'reward_fault'
        ? { rewards: { gsm8k: 'http' }, reward: 'http', reward_url: `${addressOf(services)}/reward` }
        : {};
    sandboxIsDead = cause === 'sandbox_fault';
    rewardIsDead = cause === 'reward_fault';
    expect(await run(settings)).toMatchObject({ done: 0, failed: 2 });
    expect(rows()).toEqual([]);
    expect(said.filter((line) => line.includes(`[${cause}`))).toHaveLength(1);
    sandboxIsDead = false;
    rewardIsDead = false;
    expect(await run(settings, true)).toMatchObject({ done: 2, unscored: 0 });
    const clean = workplace(task());
    await clean.run(settings);
    expect(shown(rows())).toEqual(shown(clean.rows()));
    expect(trouble).toContain('dead');
  });

  const notStarted = { status: 'Error', execution_time: 0, return_code: null, stdout: null, stderr: 'cannot fork' };
  const noPython = {
    status: 'Finished',
    execution_time: 0,
    return_code: 127,
    stdout: '',
    stderr: 'sh: 1: python: not found\n',
  };
  it.each([
    [
      'a sandbox that cannot start a program',
      'sandbox_fault',
      { status: 'Failed', message: '', run_result: notStarted },
    ],
    ['a sandbox without Python', 'toolchain_missing', { status: 'Failed', message: '', run_result: noPython }],
    ['a reward that is null', 'reward_fault', { reward: null }],
    ['a reward that is a list', 'reward_fault', { reward: [0] }],
    ['a 0 beside an error', 'reward_fault', { reward: 0, error: 'the judge cannot be reached' }],
    ['a 0 that is pending', 'reward_fault', { reward: 0, state: 'pending' }],
    ['a 0 with the status error', 'reward_fault', { reward: 0, status: 'error' }],
    ['a 0 without success', 'reward_fault', { reward: 0, success: false }],
    ['a 0 of a judge that timed out', 'reward_fault', { reward: 0, message: 'judge timed out' }],
  ] as const)('%s is %s: no line, and made again', async (_, cause, says) => {
    const { run, rows, unmade } = workplace(task());
    const isReward = cause === 'reward_fault';
    const settings: Partial<Settings> = isReward
      ? { rewards: { gsm8k: 'http' }, reward: 'http', reward_url: `${addressOf(services)}/reward` }
      : {};
    if (isReward) rewardSays = says;
    else sandboxSays = says;
    const broken = await run(settings);
    rewardSays = null;
    sandboxSays = null;
    expect(broken).toMatchObject({ done: 0, failed: 2 });
    expect(rows()).toEqual([]);
    expect(unmade()).toEqual([cause, cause]);
    expect(await run(settings, true)).toMatchObject({ done: 2, unscored: 0, meanScore: isReward ? 0.5 : 1 });
  });

  it('a sandbox that hangs is at fault, however short the tool’s time is', async () => {
    const { run, rows, unmade } = workplace(task());
    sandboxHangs = true;
    const broken = await run({ tool_timeout: 0.5, n: 1 });
    sandboxHangs = false;
    expect(broken).toMatchObject({ done: 0, failed: 1 });
    expect(rows()).toEqual([]);
    expect(unmade()).toEqual(['sandbox_fault']);
  });

  it('lines of a file that was deleted during the run are not counted as done', async () => {
    const { run, out } = workplace(Array.from({ length: 3 }, () => task()).join('\n'));
    mode = 'ok';
    let written = 0;
    const summary = await run({ n: 1, concurrency: 1 }, false, () => {
      if (++written === 3) rmSync(join(out, '1.jsonl'));
    });
    expect(summary).toMatchObject({ done: 0, failed: 3, ended: expect.stringContaining('deleted') });
    expect(await run({ n: 1 }, true)).toMatchObject({ done: 3 });
  });

  it('a thought that was cut has no end that nobody sampled', async () => {
    const server = createServer(async (request, response) => {
      for await (const _ of request);
      const message = { content: null, reasoning_content: 'I add' };
      response.end(
        JSON.stringify({ choices: [{ message, finish_reason: 'length' }], usage: { completion_tokens: 3 } }),
      );
    });
    await listening(server);
    try {
      const { run, rows } = workplace(task());
      await run({ model_url: `${addressOf(server)}/v1`, n: 1 });
      expect(rows()).toMatchObject([{ output: '<think>\nI add', finish_reason: 'length' }]);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it.skipIf(findOnPath('python3') === null)(
    'a reward file gets what verl’s managers give, the same in rollout and in rescore (skipped without python3)',
    async () => {
      const { run, rows, out } = workplace(task());
      const reward = join(out, '..', 'reward.py');
      writeFileSync(
        reward,
        'def compute_score(data_source, solution_str, ground_truth, extra_info):\n    return {"score": 1, "seen": [solution_str, extra_info["num_turns"], extra_info["rollout_reward_scores"]]}\n',
      );
      await run({ n: 1, reward });
      const [row] = rows();
      const seen = (row?.reward as { metadata: { seen: unknown } } | undefined)?.metadata.seen;
      expect(seen).toEqual([row?.output, 4, expect.anything()]);
      expect(row?.output).toContain('<tool_response>');
      const rewards = openRewards({ reward });
      try {
        const record = (await rowsOf([JSON.stringify(row)])).rows[0];
        const scored = record && (await rescoreRollout(record, rewards.router));
        expect(scored?.metadata.seen).toEqual(seen);
      } finally {
        rewards.close();
      }
    },
  );

  it.each([
    ['content_filter', task(), 'content_filter', 'CONTENT_FILTERED'],
    ['ok', task({}), 'no_truth', 'NOT_SCORED'],
  ] as const)('%s: a line whose score is null (%#)', async (trouble, tasks, cause, status) => {
    const { run, rows, said } = workplace(tasks);
    mode = trouble;
    expect(await run()).toMatchObject({ done: 2, unscored: 2, meanScore: null });
    mode = 'ok';
    expect(rows()).toMatchObject([
      { score: null, cause, status },
      { score: null, cause, status },
    ]);
    expect(said.filter((line) => line.includes(`[${cause}`))).toHaveLength(1);
  });

  it('a turn that is cut by its length is the model’s own, and scored', async () => {
    const { run, rows } = workplace(task());
    mode = 'length';
    const summary = await run();
    mode = 'ok';
    expect(rows()).toMatchObject([
      { score: 0, cause: 'cut_by_length', finish_reason: 'length' },
      { score: 0, cause: 'cut_by_length', finish_reason: 'length' },
    ]);
    expect(summary.faults).toEqual(['2 cut by length']);
  });

  it('a turn that the model ended at once belongs to the model, is scored and reported', async () => {
    const server = createServer(async (request, response) => {
      for await (const _ of request);
      const usage = { prompt_tokens: 5, completion_tokens: 1 };
      response.end(JSON.stringify({ choices: [{ message: { content: '' }, finish_reason: 'stop' }], usage }));
    });
    await listening(server);
    try {
      const { run, rows, said } = workplace(task());
      expect(await run({ model_url: `${addressOf(server)}/v1`, n: 1 })).toMatchObject({ done: 1, meanScore: 0 });
      expect(rows()).toMatchObject([{ score: 0, warnings: ['the model ended its turn without a word'] }]);
      expect(said).toHaveLength(1);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });

  it('three overlong prompts end nothing, and a server that is gone ends the run', async () => {
    const { run, rows } = workplace(Array.from({ length: 6 }, () => task()).join('\n'));
    mode = '400';
    expect((await run({ n: 4 })).ended).toBeNull();
    mode = 'ok';
    expect(await run({ n: 4 }, true)).toMatchObject({ done: 24, ended: null });
    expect(rows()).toHaveLength(24);
  });
});

describe('a step with a deadline', () => {
  it('keeps unfinished rollouts, and continues them', async () => {
    const { run, rows, said } = workplace(Array.from({ length: 3 }, () => task()).join('\n'));
    mode = 'hung';
    const broken = await run({ n: 1, deadline: 0.3 });
    expect(broken).toMatchObject({ done: 0, failed: 0, ended: 'ended by the deadline of 0.3 s' });
    mode = 'ok';
    expect(await run({ n: 1 }, true)).toMatchObject({ done: 3, ended: null });
    expect(rows()).toHaveLength(3);
    expect(said).toEqual([]);
  });

  it('ends once enough rollouts are whole', async () => {
    const { run } = workplace(Array.from({ length: 30 }, () => task()).join('\n'));
    const summary = await run({ n: 1, enough: 3, concurrency: 2 });
    expect(summary.ended).toBe('ended by --enough 3');
    expect(summary.done).toBeGreaterThanOrEqual(3);
    expect(summary.done).toBeLessThan(30);
  });
});
