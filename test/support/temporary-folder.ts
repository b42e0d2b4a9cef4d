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
  return () => rmSync(folder, { recursive: true, force: true });
}
