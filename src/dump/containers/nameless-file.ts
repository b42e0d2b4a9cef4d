import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file without a name, for reading and writing: nothing is left behind, however the program ends. The caller closes it. */
export function namelessFile(): number {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  const fd = openSync(join(directory, 'content'), 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  return fd;
}
