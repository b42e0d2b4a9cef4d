import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/sandbox/worlds/layers.ts';
import { worldProblem } from '../../../src/sandbox/worlds/problem.ts';
import { LiveWorld } from '../../../src/sandbox/worlds/world.ts';
import { bin, execute, root } from '../../program.ts';

const NOBODY = ['--reuid', '65534', '--regid', '65534', '--clear-groups'];

/** Why a user without rights of root cannot be tried here; null if one can. */
async function problem(): Promise<string | null> {
  const why = await worldProblem();
  if (why !== null) return why;
  if (process.getuid?.() !== 0) return 'only root becomes another user';
  const { status } = spawnSync('setpriv', [...NOBODY, process.execPath, bin, '--version']);
  return status === 0 ? null : 'another user cannot read this folder';
}

const why = await problem();
describe.skipIf(why !== null)(
  `a user who may make no control groups${why === null ? '' : ` (skipped: ${why})`}`,
  () => {
    const home = mkdtempSync(join(tmpdir(), 'nobody-'));
    chmodSync(home, 0o777);
    const call = (id: string, command: string, result: string) => [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'bash', arguments: JSON.stringify({ command }) } }],
      },
      { role: 'tool', tool_call_id: id, content: result },
    ];

    async function verdicts(...calls: object[][]): Promise<unknown[]> {
      const path = join(home, 'session.jsonl');
      writeFileSync(path, JSON.stringify({ messages: [{ role: 'user', content: 'Go.' }, ...calls.flat()] }));
      const env = {
        HOME: home,
        XDG_STATE_HOME: join(home, 'state'),
        XDG_CACHE_HOME: join(home, 'cache'),
        TMPDIR: '/tmp',
      };
      const asked = ['replay', path, '--image', 'host', '--tool', 'bash=shell', '--yes', '--json'];
      const { stdout } = await execute(
        'setpriv',
        [...NOBODY, 'prlimit', '--nofile=4096', process.execPath, bin, ...asked],
        { cwd: root, env },
      );
      return stdout
        .trim()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { verdict: unknown; reason: unknown });
    }

    it('replays calls, and the disk and sockets of this machine are not those of the world', async () => {
      const seen = await verdicts(
        call('a', 'echo one; sleep 0.3; echo two', 'one\ntwo'),
        call('b', 'echo $((6*7))', '42'),
      );
      expect(seen).toMatchObject([{ verdict: 'same' }, { verdict: 'same' }]);
    });
  },
);

const SOCKETS =
  "import socket, sys\nheld = [socket.socketpair() for _ in range(400)]\nprint('held', flush=True)\nsys.stdin.read()";

it.skipIf((await worldProblem()) !== null || spawnSync('python3', ['-c', '']).status !== 0)(
  'the sockets of this machine take no memory of a world (skipped without python3, or where no world can be made)',
  async () => {
    const holder = spawn('python3', ['-c', SOCKETS], { stdio: ['pipe', 'pipe', 'inherit'] });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const live = mkdtempSync(join(tmpdir(), 'sockets-'));
    const world = new LiveWorld({
      ...{ lowers: ['/'], folder: live, hostname: 'here', env: { PATH: '/usr/bin:/bin' }, workdir: '/tmp' },
      ...{ shell: 'persistent', network: false, hidden: [] },
      limits: { memoryMb: 100, processes: 60, diskMb: 100 },
    });
    try {
      await world.open();
      const run = await world.run('sleep 0.5; echo alive', { timeLimit: 30, merged: true });
      expect([run.excess, run.stdout.toString()]).toEqual([null, 'alive\n']);
    } finally {
      await world.close();
      removeTree(live);
      holder.stdin.end();
    }
  },
);
