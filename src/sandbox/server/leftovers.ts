// Temporary folders carry their server's process id in their name, so the next start can identify and remove those of
// a server that was killed before it could tidy up.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from '../../core/files/alive.ts';

const PREFIX = 'rollout-viewer-sandbox-';

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));

/** Removes the folders of dead processes. */
export function sweepLeftovers(folder: string = tmpdir(), pattern: RegExp = new RegExp(`^${PREFIX}(\\d+)-`)): void {
  for (const name of readdirSync(folder)) {
    const pid = pattern.exec(name)?.[1];
    if (pid === undefined || isProcessAlive(Number(pid))) continue;
    try {
      rmSync(join(folder, name), { recursive: true, force: true });
    } catch {
      // another user's
    }
  }
}
