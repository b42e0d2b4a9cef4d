import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bin, directoryWith } from '../../program.ts';

test('a recorder that is killed leaves every answer that a client had, and no half line', async () => {
  const server = createServer((request, response) => {
    request.resume();
    if (request.headers['x-half'] === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'four' } }] }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'half of' } }] })}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const folder = directoryWith({});
  const child = spawn(process.execPath, [bin, 'record', '--out', folder, '--model-url', `http://127.0.0.1:${port}`]);
  const url = await new Promise<string>((resolve) => {
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
      const found = /OPENAI_BASE_URL=(\S+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const ask = (name: string, headers: Record<string, string> = {}) =>
    fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-rollout-id': name, ...headers },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'two and two?' }] }),
    });
  for (let i = 0; i < 40; i++) await (await ask(`r${i}`)).text();
  const half = await ask('half', { 'x-half': 'yes' });
  await half.body?.getReader().read();
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  server.closeAllConnections();
  server.close();
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  expect(files).toHaveLength(41);
  for (const file of files) {
    const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n');
    const types = lines.map((line) => JSON.parse(line).type);
    const isHalf = file === 'half.jsonl';
    expect(types).toEqual(['rollout', 'history', 'message', 'request', ...(isHalf ? [] : ['message', 'response'])]);
  }
});

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;

test.skipIf(!hasPrlimit)(
  'where nothing more can be written the agent goes on, the loss is said, and what fits again is whole (skipped without prlimit)',
  async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'four' } }] }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const folder = directoryWith({});
    const command = ['record', '--out', folder, '--model-url', `http://127.0.0.1:${port}`];
    const child = spawn('prlimit', ['--fsize=2000:unlimited', process.execPath, bin, ...command]);
    let said = '';
    const errors = child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const url = await new Promise<string>((resolve) => {
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk;
        const found = /OPENAI_BASE_URL=(\S+)/.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const ask = async (content: string): Promise<string> => {
      const response = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-rollout-id': 'one' },
        body: JSON.stringify({ messages: [{ role: 'user', content }] }),
      });
      return response.text();
    };
    expect(await ask('x'.repeat(4000))).toContain('four');
    while (!said.includes('an event is lost')) await new Promise((resolve) => errors.once('data', resolve));
    spawnSync('prlimit', [`--pid=${child.pid}`, '--fsize=unlimited:unlimited']);
    expect(await ask('and now?')).toContain('four');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    server.closeAllConnections();
    server.close();
    const lines = readFileSync(join(folder, 'one.jsonl'), 'utf8').trimEnd().split('\n');
    const whole = lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line));
    expect(lines.length - whole.length).toBe(1);
    expect(whole).toContainEqual(expect.objectContaining({ message: { role: 'user', content: 'and now?' } }));
    expect(whole.at(-1)).toMatchObject({ type: 'response', status: 200 });
  },
);
