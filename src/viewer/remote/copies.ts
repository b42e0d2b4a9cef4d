import {
  closeSync,
  futimesSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { PLACEHOLDER } from '../../core/dump/origins.ts';

export interface CachedFile {
  path: string;
  size: number;
  /** Whole seconds; that of the remote file once all of it is here, which shows whether it has changed since. */
  modified: number;
}

/** A placeholder without any bytes of the file is dated to the start of the epoch. */
const NEVER = 0;

/** The local part of a file; null if there is only a placeholder. */
export function copyAt(path: string): CachedFile | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || (stats.mtimeMs === NEVER && isPending(path, stats.size))) return null;
  return { path, size: stats.size, modified: Math.floor(stats.mtimeMs / 1000) };
}

const isPending = (path: string, size: number): boolean =>
  size < 2000 && readFileSync(path, 'latin1').startsWith(PLACEHOLDER);

/** The row of a file that is not here. */
export const pendingLine = (says: string): string => `${PLACEHOLDER}${JSON.stringify(says)}}\n`;

/** Puts a placeholder row in place of a file in a folder that is there, saying what is known of it. */
export function layPending(path: string, says: string): void {
  const line = pendingLine(says);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && stats.size < 2000 && readFileSync(path, 'utf8') === line) return;
  if (stats === undefined) {
    // Ten thousand of them come before the first rollout.
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, line);
    futimesSync(fd, NEVER, NEVER);
    closeSync(fd);
    return;
  }
  const draft = hiddenName(path, 'sign');
  writeFileSync(draft, line);
  utimesSync(draft, NEVER, NEVER);
  renameSync(draft, path);
}

/** A hidden name beside a file, for incomplete data. */
export const hiddenName = (path: string, kind: string): string =>
  join(dirname(path), `.${basename(path).slice(0, 200)}.${kind}`);

/** The file with the versions of a machine's copies. */
export const VERSIONS = '.versions';

/** All files of the cache, the oldest first. */
export function cachedFiles(folder: string): CachedFile[] {
  const found: CachedFile[] = [];
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true }).map(String);
  } catch {
    return found;
  }
  for (const name of names) {
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() && stats.mtimeMs !== NEVER && basename(name) !== VERSIONS)
      // A file that came in parts has holes.
      found.push({ path, size: Math.min(stats.size, stats.blocks * 512), modified: Math.floor(stats.mtimeMs / 1000) });
  }
  return found.sort((a, b) => a.modified - b.modified);
}

export const removeCopy = (path: string): void => rmSync(path, { force: true });

/** The files below a folder or at a path that are shown, placeholders too. */
export function shownCopies(root: string): string[] {
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true) return [root];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(
      (path) =>
        !relative(root, path)
          .split('/')
          .some((part) => part.startsWith('.')),
    );
}

/** The first bytes of an object that are here, or null. */
export function partAt(path: string, size: number): CachedFile | null {
  const part = copyAt(path);
  return part !== null && part.size > 0 && part.size <= size ? part : null;
}

/** The last bytes of a file. */
export function tailOf(path: string, length: number): Buffer {
  const { size } = statSync(path);
  const bytes = Buffer.alloc(length);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, bytes, 0, length, size - length);
  } finally {
    closeSync(fd);
  }
  return bytes;
}
