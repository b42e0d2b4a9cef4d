// This server in front of another one: its sessions, data sets and queue, the other's programs.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxClient } from '../../src/sandbox/client.ts';
import { type BackendUrl, type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { SessionClient } from '../../src/sandbox/sessions/client.ts';
import { lack, named } from './backends.ts';

describe.skipIf(lack.bubblewrap !== null)(named('--backend URL', 'bubblewrap'), () => {
  let behind: SandboxServer;
  let front: SandboxServer;
  let client: SandboxClient;
  beforeAll(async () => {
    behind = await startSandbox({ port: 0, backend: 'bubblewrap' });
    front = await startSandbox({ port: 0, backend: behind.url as BackendUrl });
    client = new SandboxClient({ endpoint: front.url, retry: { attempts: 1 } });
  });
  afterAll(async () => {
    await front.close('now');
    await behind.close('now');
  });

  test('a program, its files, its timeout and its notebook', async () => {
    expect(front.backend.name).toBe('remote');
    const files = { 'in.txt': Buffer.from('in').toString('base64') };
    const code = 'import shutil; shutil.copy("in.txt", "out.txt"); print(input())';
    const ran = await client.runCode({ code, language: 'python', stdin: 'é', files, fetch_files: ['out.txt'] });
    expect(ran).toMatchObject({
      status: 'Success',
      run_result: { stdout: 'é\n' },
      files: { 'out.txt': files['in.txt'] },
    });
    const late = await client.runCode({ code: 'while 1: pass', language: 'python', run_timeout: 1 });
    expect(late).toMatchObject({ status: 'Failed', run_result: { status: 'TimeLimitExceeded' } });
    expect((await client.runCode({ code: 'x', language: 'sql' })).status).toBe('SandboxError');
    const cells = await client.runJupyter({ cells: ['x = 2', 'print(x)\nx + 1'] });
    expect(cells.cells[1]).toMatchObject({ stdout: '2\n', display: [{ 'text/plain': '3' }] });
  });

  test('a data set’s problem is judged here, a session is kept here', async () => {
    const right = { dataset: 'humaneval_python', id: 'HumanEval/2', completion: '    return number % 1.0', config: {} };
    expect((await client.submit(right)).accepted).toBe(true);
    const sessions = new SessionClient({ endpoint: front.url });
    const sid = await sessions.startInstance('free');
    await sessions.processAction(sid, '```bash\necho kept > f\n```');
    expect((await sessions.processAction(sid, '```bash\ncat f\n```')).content).toBe('kept\n');
  });

  test('a server that went away is answered 504, which clients ask again', async () => {
    const other = createServer((_, response) => response.setHeader('content-type', 'application/json').end('"pong"'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url: BackendUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const before = await startSandbox({ port: 0, backend: url });
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    const asked = new SandboxClient({ endpoint: before.url, retry: { attempts: 1 } });
    await expect(asked.runCode({ code: '1', language: 'python' })).rejects.toMatchObject({ status: 504 });
    await before.close('now');
    await expect(startSandbox({ port: 0, backend: url })).rejects.toThrow(`--backend ${url}: `);
  });
});
