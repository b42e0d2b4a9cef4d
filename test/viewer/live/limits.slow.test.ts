import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bin, directoryWith, verlLine } from '../../program.ts';

/** A user namespace has a separate limit. */
const LIMITED = 'echo 1 > /proc/sys/user/max_inotify_watches && exec "$@"';
const canLimit = spawnSync('unshare', ['-U', '-r', 'sh', '-c', LIMITED, 'sh', 'true']).status === 0;

test.skipIf(!canLimit)(
  'a used-up limit of inotify is said with its number and remedy, and polling takes over (skipped where no limit of inotify can be set)',
  async () => {
    const directory = directoryWith({ 'a/1.jsonl': verlLine(), 'b/1.jsonl': verlLine() });
    const viewer = spawn('unshare', [
      '-U',
      '-r',
      'sh',
      '-c',
      LIMITED,
      'sh',
      process.execPath,
      bin,
      'ls',
      '--follow',
      '--json',
      directory,
    ]);
    let out = '';
    let err = '';
    viewer.stdout.on('data', (data) => {
      out += data;
    });
    viewer.stderr.on('data', (data) => {
      err += data;
    });
    const until = async (holds: () => boolean) => {
      while (!holds()) await new Promise((resolve) => setTimeout(resolve, 25));
    };
    try {
      await until(() => err.includes('polling every 2 s'));
      expect(err).toMatch(/inotify watches are used up \(\d+\); sudo sysctl fs\.inotify\.max_user_watches=524288/);
      writeFileSync(join(directory, 'b/2.jsonl'), verlLine());
      await until(() => out.includes('b/2.jsonl:1'));
    } finally {
      viewer.kill('SIGKILL');
    }
  },
);
