import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createNetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { bin, directoryWith, rolloutViewer } from '../../program.ts';

const skips = (await worldProblem()) !== null;

/** An agent whose tool counts the lines of a file that it writes, beside its own program. */
const agentFile = (folder: string) => `
import { appendFileSync, readFileSync } from 'node:fs';
const messages = [{ role: 'user', content: 'count' + (process.argv[2] ?? '') }];
for (;;) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', messages }),
  });
  if (!response.ok) await new Promise((resolve) => setTimeout(resolve, 100_000));
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  if (!message.tool_calls) break;
  appendFileSync('${folder}/made', 'x');
  messages.push({ role: 'tool', tool_call_id: message.tool_calls[0].id, content: readFileSync('${folder}/made', 'utf8') });
}`;

describe.skipIf(skips)('fork --agent --image (skipped where no world can be made)', () => {
  let server: Server;
  let modelUrl = '';
  const folder = directoryWith({});
  const agent = `${process.execPath} ${join(directoryWith({ 'agent.mjs': agentFile(folder) }), 'agent.mjs')}`;
  const dump = directoryWith({
    'rollout.jsonl': `${JSON.stringify({
      messages: [
        { role: 'user', content: 'count' },
        ...['x', 'xx'].flatMap((content, at) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: `c${at}`, function: { name: 'add', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: `c${at}`, content },
        ]),
        { role: 'assistant', content: 'two' },
      ],
    })}\n`,
  });

  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      const message = { role: 'assistant', content: 'live' };
      response.end(JSON.stringify({ choices: [{ index: 0, finish_reason: 'stop', message }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    modelUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
  });
  afterAll(() => server.close());

  const words = (command: string, ...args: string[]) => [
    ...['fork', join(dump, 'rollout.jsonl:1'), '--turn', '5', '--agent', command, '--model-url', modelUrl],
    ...['--image', 'host', '--yes', '--out', directoryWith({}), ...args],
  ];
  const fork = (command: string, ...args: string[]) => rolloutViewer(words(command, ...args));

  test('its tools rebuild the state of the turn for each branch, and nothing of it stays', async () => {
    const { code, stdout } = await fork(agent, '--network', '-n', '2');
    expect(stdout.match(/went on from t5/g)).toHaveLength(2);
    expect(code).toBe(0);
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });

  test('an agent that goes another way is ended there, and the network is opened only where it is asked for', async () => {
    const { stdout } = await fork(`${agent} more`, '--network');
    expect(stdout).toContain('went another way before t5');
    expect((await fork(agent)).stderr).toContain('needs --network');
  });

  test.each(['SIGKILL', 'SIGINT'] as const)('%s ends the agent with the program', async (signal) => {
    const listener = createNetServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const address = listener.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const hangs = `${process.execPath} -e 'require("node:net").connect(${port}, "127.0.0.1")'`;
    const program = spawn(process.execPath, [bin, ...words(hangs, '--network', '-n', '3')], { stdio: 'ignore' });
    const exited = once(program, 'exit');
    const [socket] = (await once(listener, 'connection')) as [Socket];
    socket.on('error', () => {}).resume();
    const closed = once(socket, 'close');
    program.kill(signal);
    await closed;
    expect(await exited).toEqual(signal === 'SIGKILL' ? [null, signal] : [1, null]);
    listener.close();
  });

  test('--timeout ends an agent that hangs', async () => {
    const { code, stdout } = await fork('sleep 1000', '--network', '--timeout', '1');
    expect(stdout).toContain('before it reached t5');
    expect(code).toBe(2);
  });
});
