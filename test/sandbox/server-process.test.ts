// `rollout-viewer sandbox` as a process: what it says, how it ends, and what is left when it is killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { ask as answerTo } from '../program.ts';
import { CONFINING, lack, named } from './backends.ts';

const BIN = fileURLToPath(new URL('../../dist/rollout-viewer.js', import.meta.url));

interface Started {
  child: ChildProcess;
  /** All of stderr up to now. */
  said: () => string;
  ended: Promise<number | null>;
}

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function launch(args: string[], env: NodeJS.ProcessEnv = process.env): Started {
  const child = spawn(process.execPath, [BIN, 'sandbox', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  let text = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  return { child, said: () => text, ended };
}

async function urlOf({ said, ended }: Started): Promise<string> {
  void ended.then(() => {});
  await expect.poll(said).toMatch(/listening on http/);
  return /listening on (\S+)/.exec(said())![1]!;
}

const ask = (url: string, body: Record<string, unknown>) =>
  fetch(`${url}/run_code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then((answer) => answer.json() as Promise<{ status: string; run_result: { stdout: string } }>);

/** A process and all below it. */
function tree(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/stat`, 'latin1').split(') ')[1]?.split(' ')[1] === String(pid);
      } catch {
        return false;
      }
    });
  return [pid, ...children.flatMap((child) => tree(Number(child)))];
}

/** Zombies that nobody has waited for yet are dead. */
const alive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

/** The server has begun a program. */
const runsOne = (url: string) =>
  expect
    .poll(async () => (await fetch(`${url}/v1/ping`)).headers.get('x-sandbox-running'), { timeout: 120_000 })
    .toBe('1');

const BUSY = 'import time\nwhile True:\n    pass';
const leftovers = (pid: number) =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('rollout-viewer-') && name.includes(`-${pid}-`));

describe.each([...CONFINING, 'unconfined' as const])('%s', (backend) => {
  const missing = backend === 'unconfined' ? null : lack[backend];
  const name = backend === 'unconfined' ? 'the process, unconfined' : named('the process', backend);
  const chosen = ['--port', '0', '--backend', backend, ...(backend === 'unconfined' ? ['--yes-unconfined'] : [])];
  describe.skipIf(missing !== null)(name, () => {
    test('kill -9 leaves no process and no file', async () => {
      const server = launch(chosen);
      const url = await urlOf(server);
      const pid = server.child.pid!;
      const idle = tree(pid).length;
      void ask(url, { code: BUSY, language: 'python', run_timeout: 60 }).catch(() => {});
      // The others have processes that wait for it.
      if (backend === 'unconfined') await expect.poll(() => tree(pid).length).toBeGreaterThan(idle);
      await runsOne(url);
      const family = tree(pid);
      expect(family.length).toBeGreaterThan(1);
      server.child.kill('SIGKILL');
      await expect.poll(() => family.filter(alive)).toEqual([]);
      await expect.poll(() => leftovers(pid)).toEqual([]);
    });

    test('SIGTERM lets what runs end, then everything is gone', async () => {
      const server = launch(chosen);
      const url = await urlOf(server);
      const pid = server.child.pid!;
      const answer = ask(url, { code: 'import time\ntime.sleep(1)\nprint("ended")', language: 'python' });
      await runsOne(url);
      const family = tree(pid);
      server.child.kill('SIGTERM');
      expect((await answer).run_result.stdout).toBe('ended\n');
      expect(await server.ended).toBe(0);
      await expect.poll(() => family.filter(alive)).toEqual([]);
      expect(leftovers(pid)).toEqual([]);
    });
  });
});

describe('what it says', () => {
  test('auto without bubblewrap takes Pyodide and says why', async () => {
    const server = launch(['--port', '0'], { ...process.env, PATH: '/nonexistent' });
    const url = await urlOf(server);
    expect(server.said()).toContain('not used: bubblewrap: bwrap is not on PATH');
    expect(server.said()).toContain('sandbox: pyodide, listening');
    const { run_result } = await ask(url, { code: 'import sys\nprint(sys.platform)', language: 'python' });
    expect(run_result.stdout).toBe('emscripten\n');
  });

  test('auto does not take a bubblewrap that does not work here, and says what it said', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'no-namespaces-'));
    try {
      const words = 'bwrap: No permissions to create new namespace';
      writeFileSync(join(folder, 'bwrap'), `#!/bin/sh\necho "${words}" >&2\nexit 1\n`, { mode: 0o755 });
      chmodSync(folder, 0o755);
      const server = launch(['--port', '0'], { ...process.env, PATH: `${folder}:${process.env.PATH}` });
      await urlOf(server);
      expect(server.said()).toContain(`not used: bubblewrap: ${words}`);
      expect(server.said()).toContain('sandbox: pyodide, listening');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('the next start removes what a killed server left', async () => {
    const dead = spawn(process.execPath, ['-e', '0']);
    await once(dead, 'exit');
    const left = mkdtempSync(join(tmpdir(), `rollout-viewer-sandbox-${dead.pid}-`));
    const mine = mkdtempSync(join(tmpdir(), `rollout-viewer-sandbox-${process.pid}-`));
    await urlOf(launch(['--port', '0', '--backend', 'unconfined', '--yes-unconfined']));
    expect([existsSync(left), existsSync(mine)]).toEqual([false, true]);
    rmSync(mine, { recursive: true });
  });

  test.skipIf(lack.bubblewrap !== null)(
    'auto takes bubblewrap where it works (skipped without bubblewrap)',
    async () => {
      const server = launch(['--port', '0']);
      await urlOf(server);
      expect(server.said()).toContain('sandbox: bubblewrap, listening');
    },
  );

  test('unconfined warns on every start', async () => {
    const server = launch(['--port', '0', '--backend', 'unconfined', '--yes-unconfined']);
    const url = await urlOf(server);
    expect(server.said()).toContain('WARNING: the backend unconfined');
    expect(await ask(url, { code: 'echo "$HOME"', language: 'bash' })).toMatchObject({ status: 'Success' });
  });

  test('beyond loopback it makes a token by itself, and nobody comes in without it', async () => {
    const server = launch(['--port', '0', '--host', '0.0.0.0']);
    const url = (await urlOf(server)).replace('0.0.0.0', '127.0.0.1');
    const status = (headers: Record<string, string>) => fetch(`${url}/v1/ping`, { headers }).then((got) => got.status);
    const token = /token[^\n]*?(\S{16,})/.exec(server.said())![1]!;
    expect(await Promise.all([status({}), status({ authorization: `Bearer ${token}` })])).toEqual([401, 200]);
  });

  test.each([
    [['--backend', 'unconfined'], '--yes-unconfined'],
    [['--backend', 'unconfined', '--yes-unconfined', '--host', '0.0.0.0'], 'loopback'],
    [['--backend', 'docker'], 'auto, bubblewrap, pyodide, unconfined'],
    [['--max-concurrency', '0'], 'from 1 to 10000'],
    [['--port', 'http'], 'from 0 to 65535'],
    [['--dataset', 'nothing'], 'NAME=FILE'],
    [['--dataset', 'a=/nonexistent.jsonl'], '/nonexistent.jsonl'],
  ])('%s is a usage error', async (args, words) => {
    const { code, stderr } = await answerTo(['sandbox', '--port', '0', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
  });
});
