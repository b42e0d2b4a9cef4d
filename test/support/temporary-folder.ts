import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Variables that a user's environment may set for the program; each test sets its own. */
const SAID = [
  ...[
    'COLUMNS',
    'LINES',
    'NO_COLOR',
    'FORCE_COLOR',
    'COLORTERM',
    'COLORFGBG',
    'ROLLOUT_VIEWER_THEME',
    'TMUX',
    'EDITOR',
    'VISUAL',
    'PAGER',
  ],
  // A write for each line of a million.
  'PYTHONUNBUFFERED',
  ...['SANDBOX_FUSION_ENDPOINT', 'ROLLOUT_VIEWER_KEYS', 'ROLLOUT_VIEWER_API_KEY', 'ROLLOUT_VIEWER_QUEUE_PASSWORD'],
];

/** Everything that tests and the programs they start write lies in one folder, and goes with it. */
export function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-tests-'));
  // Programs that run under another user must find their way through it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  for (const name of ['state', 'config', 'cache']) process.env[`XDG_${name.toUpperCase()}_HOME`] = join(folder, name);
  for (const name of SAID) delete process.env[name];
  // Workers that end meanwhile are heard: a hundred thousand files take longer than they are given to say so.
  return async () => {
    try {
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch (error) {
      // A process that is just ending may write to it once more: what is left over is no failure of a test.
      console.warn(`left behind: ${folder} (${(error as Error).message})`);
    }
  };
}
