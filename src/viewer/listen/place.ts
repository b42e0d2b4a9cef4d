import { lstatSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { ensureFolder } from '../../core/files/ensure-folder.ts';

/** The place to show. */
export interface PointRequest {
  locator: string;
  turn: number | null;
  /** Words of the text to highlight. */
  quotes: readonly string[];
}

export interface PointAnswer {
  opened: boolean;
  /** Why it was not opened; '' otherwise. */
  problem: string;
  /** Quotes that do not occur exactly once in the text. */
  broken: readonly string[];
}

/** Longer requests are refused. */
export const MOST_REQUEST_BYTES = 100_000;

/** The folder with the sockets of this user's screens, inaccessible to others. @throws Error if another user created it */
export function socketFolder(): string {
  const { uid } = userInfo();
  const { XDG_RUNTIME_DIR: runtime } = process.env;
  const folder = runtime ? join(runtime, 'rollout-viewer') : join(tmpdir(), `rollout-viewer-${uid}`);
  ensureFolder(folder, 0o700);
  const stats = lstatSync(folder);
  if (!stats.isDirectory() || stats.uid !== uid || (stats.mode & 0o077) !== 0)
    throw new Error(`${folder}: not a folder of this user alone; XDG_RUNTIME_DIR names another place`);
  return folder;
}
