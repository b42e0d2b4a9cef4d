import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Everything that tests and the programs they start write lies in one folder, and goes with it. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-tests-'));
  // Programs that run under another user must find their way through it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  process.env.XDG_STATE_HOME = join(folder, 'state');
  return () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch (error) {
      // A process that is just ending may write to it once more: what is left over is no failure of a test.
      console.warn(`left behind: ${folder} (${(error as Error).message})`);
    }
  };
}
