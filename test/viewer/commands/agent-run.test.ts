import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bin, directoryWith, rolloutViewer as program } from '../../program.ts';

const rolloutViewer = async (...args: string[]) => {
  const { code: status, stdout } = await program(args);
  return { status, stdout };
};

/** An agent with a tool: it says when and where it runs, and adds until it has an answer. */
const AGENT = `
const base = process.env.OPENAI_BASE_URL;
const system = 'Today is ' + new Date().toISOString() + ' in ' + process.cwd() + (process.env.EXTRA ?? '');
const messages = [{ role: 'system', content: system }, { role: 'user', content: process.env.ROLLOUT_VIEWER_PROMPT || 'add things' }];
for (let i = 0; i < 6; i++) {
  const response = await fetch(base + '/chat/completions', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', messages }),
  });
  if (!response.ok) process.exit(3);
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  if (!message.tool_calls) break;
  for (const call of message.tool_calls) {
    const { a } = JSON.parse(call.function.arguments);
    messages.push({ role: 'tool', tool_call_id: call.id, content: String(a + 1 + (process.env.WRONG ? 1 : 0)) });
  }
}`;

let server: Server;
let modelUrl = '';
const folder = directoryWith({ 'agent.mjs': AGENT });
const agent = `node ${join(folder, 'agent.mjs')}`;
const dump = join(folder, 'dump');
let requests = 0;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    requests++;
    let body = '';
    for await (const chunk of request) body += chunk;
    const asked = JSON.parse(body).messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    const call = { id: `call_${asked}`, type: 'function', function: { name: 'add', arguments: `{"a":${asked}}` } };
    const message =
      asked < 2 ? { role: 'assistant', content: null, tool_calls: [call] } : { role: 'assistant', content: 'done' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, finish_reason: 'stop', message }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  modelUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
  const { status } = await rolloutViewer('record', '--out', dump, '--model-url', modelUrl, '--', 'sh', '-c', agent);
  expect(status).toBe(0);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('the same agent sends the same requests, wherever and whenever it runs, and no model is asked', async () => {
  const before = requests;
  const junit = join(folder, 'junit.xml');
  for (let time = 0; time < 2; time++) {
    const { status, stdout } = await rolloutViewer('replay', dump, '--agent', `cd /tmp && ${agent}`, '--junit', junit);
    expect(stdout).toContain('same: 3 turns asked for');
    expect(status).toBe(0);
  }
  expect(requests).toBe(before);
  expect(readFileSync(junit, 'utf8')).toContain('tests="1" failures="0"');
});

test('a changed agent differs, and the first difference is side by side', async () => {
  const junit = join(folder, 'failed.xml');
  const { status, stdout } = await rolloutViewer('replay', dump, '--agent', `WRONG=1 ${agent}`, '--junit', junit);
  expect(status).toBe(1);
  expect(stdout).toContain('differs: the request for t4, in its message 3');
  expect(stdout).toMatch(/\| 1 +│ 2/);
  expect(readFileSync(junit, 'utf8')).toContain('failures="1"');
});

test('--exact takes a rule away, and an agent that ends early says so', async () => {
  expect((await rolloutViewer('replay', dump, '--agent', agent, '--exact', 'dates')).stdout).toContain(
    'differs: the request for t2',
  );
  expect((await rolloutViewer('replay', dump, '--agent', agent, '--exact', 'nothing')).status).toBe(2);
  const early = await rolloutViewer('replay', dump, '--agent', 'true', '--json');
  expect(JSON.parse(early.stdout)).toMatchObject({ verdict: 'ended early', status: 0 });
});

test('fork --agent continues with the live model from its turn on', async () => {
  const before = requests;
  const out = join(folder, 'branches');
  const args = [
    'fork',
    `${dump}/rollout.jsonl:1`,
    '--turn',
    '4',
    '--agent',
    agent,
    '--model-url',
    modelUrl,
    '--out',
    out,
  ];
  const { status, stdout } = await rolloutViewer(...args, '-n', '2');
  expect(status).toBe(0);
  expect(stdout.match(/went on from t4/g)).toHaveLength(2);
  // Two replies of three were made again, twice.
  expect(requests - before).toBe(4);
  const rows = (await rolloutViewer('ls', out, '--json')).stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map(({ turns, extras }) => [turns, extras.fork.turn])).toEqual([
    [7, 4],
    [7, 4],
  ]);
});

test('an agent that goes another way before the fork is stopped, and shows where', async () => {
  const args = [
    'fork',
    `${dump}/rollout.jsonl:1`,
    '--turn',
    '4',
    '--agent',
    `EXTRA=' Be brief.' ${agent}`,
    '--model-url',
    modelUrl,
  ];
  const { status, stdout } = await rolloutViewer(...args, '--out', join(folder, 'none'));
  expect(status).toBe(2);
  expect(stdout).toContain('went another way before t4');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain('brief.');
});

test('^c ends the agent, and the branches or rollouts that would follow', async () => {
  const listener = createNetServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const hangs = `node -e 'require("node:net").connect(${port}, "127.0.0.1")'`;
  const locator = join(dump, 'rollout.jsonl:1');
  for (const args of [
    ['fork', locator, '--turn', '4', '--model-url', modelUrl, '-n', '3', '--out', directoryWith({}), '--agent', hangs],
    ['replay', locator, locator, '--agent', hangs],
  ]) {
    const connected = once(listener, 'connection') as Promise<[Socket]>;
    const running = spawn(process.execPath, [bin, ...args], { stdio: 'ignore' });
    const exited = once(running, 'exit');
    const [socket] = await connected;
    socket.on('error', () => {}).resume();
    const closed = once(socket, 'close');
    running.kill('SIGINT');
    await closed;
    expect(await exited).toEqual([1, null]);
  }
  listener.close();
});

test('an agent that quotes its prompt is started over with the prompt alone', async () => {
  const quotes = directoryWith({
    'agent.mjs': `
const messages = [{ role: 'user', content: '"' + process.env.ROLLOUT_VIEWER_PROMPT.replaceAll('"', '\\\\"') + '"' }];
const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', messages }),
});
if (!response.ok) process.exit(3);`,
    'one.jsonl': `${JSON.stringify({
      messages: [
        { role: 'user', content: '"say \\"five\\" twice"' },
        { role: 'assistant', content: 'five five' },
      ],
    })}\n`,
  });
  const command = `node ${join(quotes, 'agent.mjs')}`;
  const { status, stdout } = await rolloutViewer('replay', join(quotes, 'one.jsonl'), '--agent', command);
  expect(stdout).toContain('same: 1 turn asked for');
  expect(status).toBe(0);
});
