import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';

export type EntryType = 'file' | 'dir' | 'symlink' | 'fifo' | 'socket' | 'device';

/** A path of a world that differs from its image. */
export interface ChangedPath {
  path: string;
  type: EntryType;
  /** Four octal digits; empty for a removed path. */
  mode: string;
  /** Bytes; null for folders and removed paths. */
  size: number | null;
  /** For a link, that of its target. */
  sha256: string | null;
  change: 'added' | 'modified' | 'deleted';
}

/** Folders of the kernel and of the machine, which belong to no state. */
const NOT_LISTED = new Set(['/proc', '/dev', '/sys', '/run']);

const typeOf = (stats: Stats): EntryType =>
  stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'dir'
      : stats.isSymbolicLink()
        ? 'symlink'
        : stats.isFIFO()
          ? 'fifo'
          : stats.isSocket()
            ? 'socket'
            : 'device';

export const isWhiteout = (stats: Stats): boolean => stats.isCharacterDevice() && stats.rdev === 0;

/** The lstat of a path; null if it does not exist. A name may hold any byte: paths are Latin-1 texts of bytes here. */
export function statOf(path: string): Stats | null {
  try {
    return lstatSync(Buffer.from(path, 'latin1'));
  } catch {
    return null;
  }
}

/** The names in a folder, in order; empty if it cannot be read. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(Buffer.from(path, 'latin1'), { encoding: 'latin1' }).sort();
  } catch {
    return [];
  }
}

/** Caches hashes of files that did not change since they were read. */
class HashCache {
  readonly #known = new Map<string, { key: string; sha256: string }>();

  /** SHA-256 of a regular file, opened without following a link; null if it cannot be read. */
  of(path: string, stats: Stats): string | null {
    const key = `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
    const known = this.#known.get(path);
    if (known?.key === key) return known.sha256;
    const sha256 = hashFile(path);
    if (sha256 !== null) this.#known.set(path, { key, sha256 });
    return sha256;
  }
}

const CHUNK = Buffer.alloc(1 << 18);

/** SHA-256 of a regular file; null for anything else, or if it cannot be read. */
export function hashFile(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(Buffer.from(path, 'latin1'), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(fd).isFile()) return null;
    const hash = createHash('sha256');
    for (;;) {
      const count = readSync(fd, CHUNK);
      if (count === 0) return hash.digest('hex');
      hash.update(CHUNK.subarray(0, count));
    }
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

const targetOf = (path: string): Buffer => readlinkSync(Buffer.from(path, 'latin1'), { encoding: 'buffer' });

interface Walk {
  upper: string;
  shown: (path: string) => readonly string[] | null;
  /** The names that differed before, by folder. */
  below: ReadonlyMap<string, readonly string[]>;
  found: Map<string, ChangedPath>;
  /** Folders at the top that begin empty, whatever the image has there. */
  bare: ReadonlySet<string>;
  isInImage: boolean;
}

/** Bytes hashed for one list: sparse files hold more than a disk. Files beyond them have no hash. */
const MOST_HASHED = 16 * 2 ** 30;

/** All changes that an upper folder makes to an image. A folder that replaces another one hides its content. */
export class Tree {
  readonly #image: string;
  readonly #hashes = new HashCache();
  readonly #imageHashes = new HashCache();
  #left = MOST_HASHED;

  constructor(image: string) {
    this.#image = image;
  }

  /**
   * The paths that differ, by path. @param before those that differed below the upper folder; @param shown the names that
   * the world shows in one of its folders, null if it cannot be read; asked for folders that may hide what is below them
   */
  changed(
    upper: string,
    shown: (path: string) => readonly string[] | null,
    before: ReadonlyMap<string, ChangedPath> = new Map(),
    bare: ReadonlySet<string> = new Set(),
  ): Map<string, ChangedPath> {
    this.#left = MOST_HASHED;
    const found = new Map(before);
    const below = new Map<string, string[]>();
    for (const path of before.keys()) {
      const at = path.lastIndexOf('/');
      const names = below.get(path.slice(0, at));
      if (names === undefined) below.set(path.slice(0, at), [path.slice(at + 1)]);
      else names.push(path.slice(at + 1));
    }
    this.#walk('', { upper, shown, below, found, bare, isInImage: true });
    return found;
  }

  #walk(at: string, walk: Walk): void {
    const { upper, shown, below, found, bare, isInImage } = walk;
    const mine = namesIn(join(upper, at === '' ? '.' : `.${at}`));
    for (const name of mine) {
      const path = `${at}/${name}`;
      if (NOT_LISTED.has(path)) continue;
      const stats = statOf(`${upper}${path}`);
      if (stats === null) continue;
      // Below a link of the image lies another place.
      const old = isInImage ? statOf(`${this.#image}${path}`) : null;
      if (isWhiteout(stats)) {
        this.#forget(path, walk);
        if (old !== null) this.#gone(path, old, found);
        continue;
      }
      const type = typeOf(stats);
      const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0');
      const entry = this.#entry(`${upper}${path}`, path, stats, type, mode);
      if (old === null) found.set(path, { ...entry, change: 'added' });
      else if (typeOf(old) !== type || (old.mode & 0o7777) !== (stats.mode & 0o7777) || this.#differs(path, old, entry))
        found.set(path, { ...entry, change: 'modified' });
      else found.delete(path);
      const isFolderOfImage = old?.isDirectory() === true && !bare.has(path);
      if (type !== 'dir') {
        for (const one of below.get(path) ?? []) this.#forget(`${path}/${one}`, walk);
        if (isFolderOfImage) this.#goneBelow(path, found);
        continue;
      }
      this.#walk(path, { ...walk, isInImage: isFolderOfImage });
      const lower = [...(below.get(path) ?? []), ...(isFolderOfImage ? namesIn(`${this.#image}${path}`) : [])];
      if (lower.length === 0) continue;
      const here = new Set(namesIn(`${upper}${path}`));
      const hidden = lower.filter((one) => !here.has(one));
      const names = hidden.length === 0 ? null : shown(path);
      if (names === null) continue;
      const visible = new Set(names);
      for (const one of hidden) {
        if (visible.has(one)) continue;
        this.#forget(`${path}/${one}`, walk);
        const lost = isFolderOfImage ? statOf(`${this.#image}${path}/${one}`) : null;
        if (lost !== null) this.#gone(`${path}/${one}`, lost, found);
      }
    }
  }

  /** Differences below a path that is gone. */
  #forget(path: string, walk: Walk): void {
    walk.found.delete(path);
    for (const name of walk.below.get(path) ?? []) this.#forget(`${path}/${name}`, walk);
  }

  #entry(real: string, path: string, stats: Stats, type: EntryType, mode: string): Omit<ChangedPath, 'change'> {
    if (type === 'file') {
      this.#left -= stats.size;
      const sha256 = this.#left < 0 ? null : this.#hashes.of(real, stats);
      return { path, type, mode, size: stats.size, sha256 };
    }
    if (type !== 'symlink') return { path, type, mode, size: type === 'dir' ? null : 0, sha256: null };
    const target = targetOf(real);
    return { path, type, mode, size: target.length, sha256: createHash('sha256').update(target).digest('hex') };
  }

  #differs(path: string, old: Stats, entry: Omit<ChangedPath, 'change'>): boolean {
    const real = `${this.#image}${path}`;
    if (entry.type === 'file') return old.size !== entry.size || this.#imageHashes.of(real, old) !== entry.sha256;
    return entry.type === 'symlink' && createHash('sha256').update(targetOf(real)).digest('hex') !== entry.sha256;
  }

  #gone(path: string, old: Stats, found: Map<string, ChangedPath>): void {
    const type = typeOf(old);
    found.set(path, { path, type, mode: '', size: null, sha256: null, change: 'deleted' });
    if (type === 'dir') this.#goneBelow(path, found);
  }

  #goneBelow(path: string, found: Map<string, ChangedPath>): void {
    for (const name of namesIn(`${this.#image}${path}`)) {
      const old = statOf(`${this.#image}${path}/${name}`);
      if (old !== null) this.#gone(`${path}/${name}`, old, found);
    }
  }
}
