import { openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporary } from '../files/temporary.ts';

/** Opens a file without a name for reading and writing: nothing is left behind, however the program ends. */
export function openNameless(): number {
  const directory = makeTemporary('rollout-viewer-');
  const fd = openSync(join(directory, 'nameless'), 'wx+', 0o600);
  rmSync(directory, { recursive: true });
  return fd;
}
