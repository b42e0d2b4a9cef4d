import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Opens a file without a name for reading and writing: nothing is left behind, however the program ends. */
export function openNameless(): number {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  const fd = openSync(join(directory, 'nameless'), 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  return fd;
}
