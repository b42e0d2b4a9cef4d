import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isDynamicPattern } from 'tinyglobby';
import { errorCode } from '../text/thrown.ts';
import { isInside } from './stranger-file.ts';

export interface DirectoryEvents {
  /** An entry of a watched directory was written, created or removed. */
  changed(path: string): void;
  /** Directories can no longer be watched, for this reason. Called once. */
  failed(reason: string): void;
}

/**
 * Watches the directories below some paths, but no files: the kernel reports a write to a file to the watch of its
 * directory. One watch per file would cost 39 kB each, 392 MB for 10,000 step files.
 */
export class DirectoryWatch {
  readonly #paths: readonly string[];
  readonly #events: DirectoryEvents;
  readonly #watches = new Map<string, { watcher: FSWatcher; inode: string }>();
  #isClosed = false;

  constructor(paths: readonly string[], events: DirectoryEvents) {
    this.#paths = paths.map((path) => resolve(isDynamicPattern(path) ? fixedPart(path) : path));
    this.#events = events;
    this.check();
  }

  /** How many directories are watched. */
  get count(): number {
    return this.#watches.size;
  }

  /**
   * Watches new directories, and forgets those that are gone or came back under another inode; events report neither.
   */
  check(): void {
    for (const [path, { inode }] of this.#watches) if (inodeOf(path) !== inode) this.#forget(path);
    for (const path of this.#paths) {
      const kind = entryKind(path);
      if (kind === 'directory') this.#addTree(path, path, new Set());
      // A file is watched through its directory, and a path that does not exist yet through its nearest existing
      // parent.
      else this.#add(kind === 'file' ? dirname(path) : nearestDirectory(path));
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const path of [...this.#watches.keys()]) this.#forget(path);
  }

  #addTree(path: string, root: string, visited: Set<string>): void {
    const inode = this.#add(path);
    // Links may form cycles.
    if (inode === null || visited.has(inode)) return;
    visited.add(inode);
    for (const nested of directoriesIn(path, root)) this.#addTree(nested, root, visited);
  }

  /** @returns the inode; null if the directory cannot be watched */
  #add(path: string): string | null {
    if (this.#isClosed) return null;
    const inode = inodeOf(path);
    if (inode === null || this.#watches.has(path)) return inode;
    try {
      const watcher = watch(path, { persistent: false }, (event, name) => this.#happened(path, event, name));
      watcher.on('error', () => this.#forget(path));
      this.#watches.set(path, { watcher, inode });
      return inode;
    } catch (error) {
      const reason = limitReason(errorCode(error));
      if (reason !== null) {
        this.close();
        this.#events.failed(reason);
      }
      return null;
    }
  }

  #happened(directory: string, event: string, name: string | null): void {
    if (this.#isClosed) return;
    // Dot directories are not part of a dump.
    if (name?.startsWith('.')) return;
    const path = name === null ? directory : join(directory, name);
    if (event === 'rename') {
      const kind = entryKind(path);
      const root = this.#rootOf(path);
      if (kind === 'directory' && root !== undefined && isInside(root, path)) this.#addTree(path, root, new Set());
      else if (kind === null) this.#forget(path);
      // An awaited path may exist now.
      if (this.#paths.some((wanted) => wanted === path || wanted.startsWith(`${path}/`))) this.check();
    }
    this.#events.changed(path);
  }

  #rootOf(path: string): string | undefined {
    return this.#paths.find((wanted) => path === wanted || path.startsWith(`${wanted}/`));
  }

  #forget(path: string): void {
    this.#watches.get(path)?.watcher.close();
    this.#watches.delete(path);
  }
}

/** Describes a kernel limit and its remedy; null for an error of one directory alone. */
function limitReason(code: string | undefined): string | null {
  if (code === 'ENOSPC') return limit('max_user_watches', 'watches');
  if (code === 'EMFILE' || code === 'ENFILE') return limit('max_user_instances', 'instances');
  return null;
}

function limit(name: string, what: string): string {
  let number = '';
  try {
    number = ` (${readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8').trim()})`;
  } catch {
    // A system other than Linux.
  }
  return `this user's inotify ${what} are used up${number}; sudo sysctl fs.inotify.${name}=524288 raises the limit`;
}

const inodeOf = (path: string): string | null => {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
};

const entryKind = (path: string): 'directory' | 'file' | null => {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return null;
  }
};

function nearestDirectory(path: string): string {
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    if (entryKind(parent) === 'directory' || parent === dirname(parent)) return parent;
  }
}

/** A walk does not leave its root through links either. */
function directoriesIn(path: string, root: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map((entry) => ({ nested: join(path, entry.name), isLink: entry.isSymbolicLink() }))
      .filter(({ nested, isLink }) => entryKind(nested) === 'directory' && (!isLink || isInside(root, nested)))
      .map(({ nested }) => nested);
  } catch {
    return [];
  }
}

/** `runs/*` + `/train` → `runs`: the part of a pattern before its first wildcard. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => isDynamicPattern(part));
  return parts.slice(0, first === -1 ? parts.length : first).join('/') || (pattern.startsWith('/') ? '/' : '.');
}
