// Facts are kept for another day. Where that cannot be, the answer is the same, and the disk is left as it was.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bin, directoryWith, execute, rolloutViewer, verlLine } from '../../program.ts';

const canMount = spawnSync('unshare', ['-Urm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

test.skipIf(!canMount)(
  `a disk that is full while facts are kept changes no answer${canMount ? '' : ' (skipped: no mounts here)'}`,
  async () => {
    const rows = Array.from({ length: 4000 }, (_, at) =>
      verlLine({ output: `It is ${at}`, score: at % 7, acc: at / 3 }),
    );
    const folder = directoryWith({ 'dump/1.jsonl': rows.join('') });
    const state = join(folder, 'state');
    mkdirSync(state);
    const line = (words: string): string => `"$NODE" "$BIN" stats dump --json ${words}`;
    const script = [
      'mount -t tmpfs -o size=64k none "$XDG_STATE_HOME"',
      `${line('')}; echo "status $?"`,
      `${line('')}; echo "status $?"`,
      'find "$XDG_STATE_HOME" -name "*.new"',
    ].join('\n');
    const env = { XDG_STATE_HOME: state, XDG_CACHE_HOME: state, NODE: process.execPath, BIN: bin };
    const full = await execute('unshare', ['-Urm', 'bash', '-c', script], { cwd: folder, env });
    const { stdout } = await rolloutViewer(['stats', 'dump', '--json', '--no-cache'], { cwd: folder });
    expect(full.stderr).toBe('');
    expect(full.stdout).toBe(`${stdout}status 0\n`.repeat(2));
  },
);
