import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../text/thrown.ts';

/**
 * Creates a folder and those above it that are missing. Node 20's own `recursive` never returns where the system will
 * have no folder in one that exists (an automounted /home without this user, /proc, a folder that was removed).
 * @throws Error of the system
 */
export function ensureFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (; !isFolder(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const folder of missing.reverse())
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Another process was faster.
      if (errorCode(error) !== 'EEXIST' || !isFolder(folder)) throw error;
    }
}

/** @throws Error where a file is in the way */
function isFolder(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true;
}
