// The server as its clients meet it: who may come in, how many at once, what a lost client leaves, how it ends.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { createRunner, type SandboxOptions, type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { lack } from './backends.ts';
import { placesAre } from './places.ts';

// Whichever confines here; what is tested does not depend on it.
const backend = lack.bubblewrap === null ? 'bubblewrap' : 'pyodide';
const servers: SandboxServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close('now')));
});

async function start(options: SandboxOptions = {}): Promise<SandboxServer> {
  const server = await startSandbox({ port: 0, backend, ...options });
  servers.push(server);
  return server;
}

interface Program {
  code: string;
  [field: string]: unknown;
}

const post = (server: SandboxServer, program: Program, init: RequestInit = {}) =>
  fetch(`${server.url}/run_code`, {
    method: 'POST',
    body: JSON.stringify({ language: 'python', ...program }),
    ...init,
    headers: { 'content-type': 'application/json', ...(init.headers as Record<string, string>) },
  });

/** Sends and does not wait; `hangUp` closes the connection. */
function begin(server: SandboxServer, program: Program): { answer: Promise<number>; hangUp: () => void } {
  const sent: ClientRequest = request(new URL('/run_code', server.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  const answer = new Promise<number>((resolve) => {
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', () => resolve(0));
  });
  sent.end(JSON.stringify({ language: 'python', ...program }));
  return { answer, hangUp: () => sent.destroy() };
}

const SLEEP = 'import time\ntime.sleep(300)';

describe('routes', () => {
  test('a slash at the end is redirected, with the query', async () => {
    const server = await start();
    const answer = await fetch(`${server.url}/run_code/?a=1`, { method: 'POST', body: '{}', redirect: 'manual' });
    expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([
      307,
      `${server.url}/run_code?a=1`,
      '',
    ]);
    expect((await fetch(`${server.url}/nothing/`, { redirect: 'manual' })).status).toBe(404);
  });

  test('a body over the limit is 413, and the server goes on', async () => {
    const server = await start({ bodyLimit: 1000 });
    const answer = await post(server, { code: `#${'x'.repeat(100_000)}` });
    expect([answer.status, await answer.json()]).toEqual([413, { detail: 'the body is over 1000 bytes' }]);
    expect((await post(server, { code: 'print(1)' })).status).toBe(200);
  });

  test('a page of another site may not run programs', async () => {
    const server = await start();
    expect((await post(server, { code: '1' }, { headers: { origin: 'http://example.org' } })).status).toBe(403);
    expect((await post(server, { code: '1' }, { headers: { origin: server.url } })).status).toBe(200);
  });

  test('what is no HTTP is dropped, and the server goes on', async () => {
    const server = await start();
    const { port, hostname } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.end('\u0000\u0001 nonsense\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    expect((await fetch(`${server.url}/v1/ping`)).status).toBe(200);
  });

  test('NaN as a timeout is reported as by the real server', async () => {
    const server = await start();
    const answer = await fetch(`${server.url}/run_code`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"code":"print(1)","language":"python","run_timeout":NaN}',
    });
    expect(await answer.json()).toMatchObject({
      status: 'SandboxError',
      message: expect.stringContaining('cannot convert float NaN to integer'),
      run_result: { status: 'Error', return_code: null },
    });
  });
});

describe('who may come in', () => {
  test('beyond loopback there is a token, made by itself where none is given', async () => {
    const server = await start({ host: '0.0.0.0' });
    const url = server.url.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${url}/v1/ping`)).status).toBe(401);
    const headers = { authorization: `Bearer ${server.token}` };
    expect((await fetch(`${url}/v1/ping`, { headers })).status).toBe(200);
  });

  test('a foreign Host is refused, unless it was allowed', async () => {
    const asked = (server: SandboxServer, headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const body = JSON.stringify({ code: 'print(1)', language: 'python' });
        const sent = request(new URL('/run_code', server.url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
        });
        sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
        sent.on('error', reject);
        sent.end(body);
      });
    const server = await start({ allowHosts: ['box.example'] });
    const { port, host } = new URL(server.url);
    expect(await asked(server, { host: `evil.example:${port}`, origin: `http://evil.example:${port}` })).toBe(403);
    expect(await asked(server, { host: `evil.example:${port}` })).toBe(403);
    expect(await asked(server, { host, origin: 'null' })).toBe(403);
    expect(await asked(server, { host, origin: `https://${host}` })).toBe(403);
    for (const name of [`localhost:${port}`, `[::1]:${port}`, host, `box.example:${port}`])
      expect(await asked(server, { host: name, origin: `http://${name}` })).toBe(200);
  });

  test('what confines nothing must be meant, and stays on loopback', async () => {
    await expect(startSandbox({ port: 0, backend: 'unconfined' })).rejects.toThrow('--yes-unconfined');
    await expect(createRunner({ backend: 'unconfined' })).rejects.toThrow('yesUnconfined');
    const beyond = { port: 0, backend: 'unconfined', yesUnconfined: true, host: '0.0.0.0', token: 't' } as const;
    await expect(startSandbox(beyond)).rejects.toThrow('never listens beyond loopback');
  });

  test('the token is a bearer, or the password of the URL', async () => {
    const server = await start({ token: 's3cret' });
    const status = async (authorization?: string) =>
      (await post(server, { code: 'print(1)' }, { headers: authorization ? { authorization } : {} })).status;
    expect(await status()).toBe(401);
    expect(await status('Bearer wrong')).toBe(401);
    expect(await status('Bearer s3cret')).toBe(200);
    expect(await status(`Basic ${Buffer.from('anyone:s3cret').toString('base64')}`)).toBe(200);
  });

  test('a port that is taken is said so', async () => {
    const server = await start();
    const port = Number(new URL(server.url).port);
    await expect(startSandbox({ port, backend })).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
  });
});

describe('time limits', () => {
  test('have a ceiling, and the answer says so', async () => {
    const server = await start({ maxRunTimeout: 1 });
    const answer = await post(server, { code: SLEEP, run_timeout: 1e308 });
    expect(await answer.json()).toMatchObject({
      status: 'Failed',
      message: expect.stringContaining('cut to 1 s'),
      run_result: { status: 'TimeLimitExceeded' },
    });
  });
});

describe('places', () => {
  test('no more run at once than may, and first come is first served', async () => {
    const server = await start({ maxConcurrency: 2 });
    const held = [1, 2].map(() => begin(server, { code: SLEEP, run_timeout: 300 }));
    await placesAre(server.url, 2, 0);
    const code = 'import time\nstart = time.time()\ntime.sleep(0.1)\nprint(start, time.time())';
    const asked: Promise<number[]>[] = [];
    for (let waiting = 1; waiting <= 4; waiting++) {
      asked.push(
        post(server, { code })
          .then((answer) => answer.json() as Promise<{ run_result: { stdout: string } }>)
          .then(({ run_result }) => run_result.stdout.trim().split(' ').map(Number)),
      );
      await placesAre(server.url, 2, waiting);
    }
    // One place comes free, and all four take it in turn.
    held[0]!.hangUp();
    const times = (await Promise.all(asked)).flat();
    expect(times).toHaveLength(8);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    held[1]!.hangUp();
  });

  test('programs that sleep to their limit hold up none that work', async () => {
    const server = await start();
    const sleepers = Array.from({ length: 12 }, () => begin(server, { code: SLEEP, run_timeout: 300 }));
    let ended = 0;
    for (const { answer } of sleepers) void answer.then(() => ended++);
    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const answer = await post(server, { code: `print(${n} * 2)` });
        return ((await answer.json()) as { run_result: { stdout: string } }).run_result.stdout;
      }),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, (_, n) => `${n * 2}\n`));
    // The sleepers sleep on.
    expect(ended).toBe(0);
    for (const { hangUp } of sleepers) hangUp();
  });

  test('a full queue answers 504, after which clients come back', async () => {
    const server = await start({ maxConcurrency: 1, maxQueue: 1 });
    const held = [1, 2].map(() => begin(server, { code: SLEEP, run_timeout: 300 }));
    await placesAre(server.url, 1, 1);
    const answer = await post(server, { code: 'print(1)' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([504, '1']);
    expect(await answer.json()).toEqual({ detail: 'the queue is full: 1 programs run and 1 wait' });
    for (const { hangUp } of held) hangUp();
  });

  test('a client that hangs up frees its place, running or waiting', async () => {
    const server = await start({ maxConcurrency: 1 });
    const held = [1, 2].map(() => begin(server, { code: SLEEP, run_timeout: 300 }));
    await placesAre(server.url, 1, 1);
    const last = post(server, { code: 'print(1)' });
    await placesAre(server.url, 1, 2);
    for (const { hangUp } of held.reverse()) hangUp();
    // It would have to wait ten minutes, and the test would be over.
    expect(((await (await last).json()) as { status: string }).status).toBe('Success');
  });
});

describe('connections', () => {
  const PING = 'GET /v1/ping HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const ENDLESS =
    'POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';

  /** Sends pieces until the server closes the connection. @returns what it answered */
  async function sendUntilClosed(server: SandboxServer, head: string, piece: string): Promise<string> {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => {});
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.write(head);
    const send = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', send);
    send();
    await new Promise((resolve) => socket.once('close', resolve));
    return heard;
  }

  test('a body without end is answered 413, and then cut off', async () => {
    const server = await start({ bodyLimit: 1_000_000 });
    const heard = await sendUntilClosed(server, ENDLESS, `10000\r\n${'a'.repeat(0x10000)}\r\n`);
    expect(heard).toContain('HTTP/1.1 413 ');
    expect((await post(server, { code: 'print(1)' })).status).toBe(200);
  });

  test('a body of single bytes is refused before it is many', async () => {
    const server = await start();
    expect(await sendUntilClosed(server, ENDLESS, '1\r\na\r\n'.repeat(10_000))).toContain('in over 50000 parts');
  });

  test('requests that do not wait for their turn end their connection', async () => {
    const server = await start();
    const one = `${ENDLESS}0\r\n\r\n`;
    await sendUntilClosed(server, '', one.repeat(100));
    expect((await post(server, { code: 'print(1)' })).status).toBe(200);
  });

  test('connections that ask nothing keep nobody out', async () => {
    const server = await start();
    const port = Number(new URL(server.url).port);
    // Both ends of a connection are files of this process.
    const files = Number(execFileSync('sh', ['-c', 'ulimit -n'])) || Number.POSITIVE_INFINITY;
    const count = Math.min(2500, Math.floor((files - 300) / 2));
    const idle = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    const socket = connect(port, '127.0.0.1', () => socket.write(PING));
    expect((await once(socket, 'data')).toString()).toContain('"pong"');
    expect((await post(server, { code: 'print(1)' })).status).toBe(200);
    for (const one of [...idle, socket]) one.destroy();
  });

  test('a body is read as Python reads it', async () => {
    const server = await start();
    const body = JSON.stringify({ code: 'print("é")', language: 'python' });
    const read = async (bytes: Buffer) => {
      const answer = await post(server, { code: '' }, { body: new Uint8Array(bytes) });
      const said = (await answer.json()) as { detail?: string; run_result?: { stdout: string } };
      return [answer.status, said.detail ?? said.run_result?.stdout];
    };
    const unreadable = [400, 'There was an error parsing the body'];
    expect(await read(Buffer.from(`\ufeff${body}`))).toEqual([200, 'é\n']);
    expect(await read(Buffer.from(body, 'utf16le'))).toEqual([200, 'é\n']);
    expect(await read(Buffer.from(`\ufeff${body}`, 'utf16le').swap16())).toEqual([200, 'é\n']);
    expect(await read(Buffer.from(body, 'latin1'))).toEqual(unreadable);
    expect(await read(gzipSync(body))).toEqual(unreadable);
  });

  test('a memory limit beyond every machine is no limit of ours', async () => {
    const server = await start();
    for (const memory_limit_MB of [2 ** 53, 2 ** 63]) {
      const answer = await post(server, { code: 'print(1)', memory_limit_MB });
      expect(((await answer.json()) as { status: string }).status).toBe('Success');
    }
    // A fraction that is no integer of 64 bits is refused as pydantic refuses it.
    expect((await post(server, { code: 'print(1)', memory_limit_MB: 1e308 })).status).toBe(422);
  });
});

test('while it drains, what runs ends and what waits goes elsewhere', async () => {
  const server = await start({ maxConcurrency: 1 });
  const running = post(server, { code: 'import time\nprint("began", flush=True)\ntime.sleep(3)\nprint("ended")' });
  await placesAre(server.url, 1, 0);
  const waiting = begin(server, { code: 'print(1)' });
  await placesAre(server.url, 1, 1);
  const closed = server.close();
  const answer = (await (await running).json()) as { run_result: { stdout: string } };
  expect(answer.run_result.stdout).toBe('began\nended\n');
  expect(await waiting.answer).toBe(503);
  await closed;
  await expect(fetch(`${server.url}/v1/ping`)).rejects.toThrow();
});
