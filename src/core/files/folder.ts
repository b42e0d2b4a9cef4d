import {
  closeSync,
  constants,
  existsSync,
  fstat,
  fstatSync,
  lstatSync,
  mkdirSync,
  open as openDescriptor,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode } from '../text/thrown.ts';
import { ensureFolder } from './ensure-folder.ts';

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** Linux opens a name relative to an open folder; elsewhere the path is checked before and after. */
const HAS_DESCRIPTOR_PATHS = existsSync('/proc/self/fd');

const self = (): number | null => process.geteuid?.() ?? null;

/**
 * A folder whose files cannot be trusted, because a dump can ship one. From the journal's folder down no path component
 * may be a link. Files must be regular and have a single hard link, and opening never blocks.
 */
export class Folder {
  /** As people write it. */
  readonly path: string;
  readonly #fd: number;
  readonly #stat: Stats;

  private constructor(path: string, fd: number, stat: Stats) {
    this.path = path;
    this.#fd = fd;
    this.#stat = stat;
  }

  /**
   * @param base may be reached through links, as /home often is; `names` below it may not
   * @param make creates missing folders, for this user only
   * @throws Error that names the obstacle
   */
  static open(base: string, names: readonly string[], make: boolean): Folder {
    if (make) ensureFolder(base);
    let folder = Folder.#at(base, base, true);
    for (const name of names) {
      const parent: Folder = folder;
      try {
        folder = parent.#folder(name, make);
      } finally {
        parent.close();
      }
    }
    return folder;
  }

  /** The same off the main thread, for a folder of another machine, which may not answer. It creates nothing. @throws Error */
  static async enter(base: string, names: readonly string[]): Promise<Folder> {
    let folder = await Folder.#enter(base, base, true);
    for (const name of names) {
      const parent: Folder = folder;
      try {
        folder = await Folder.#enter(parent.at(name), join(parent.path, name));
      } finally {
        parent.close();
      }
    }
    return folder;
  }

  static #at(path: string, shown: string, follow = false): Folder {
    try {
      const fd = openSync(path, flagsOf(follow));
      return new Folder(shown, fd, fstatSync(fd));
    } catch (error) {
      throw refusal(error, shown, follow);
    }
  }

  static async #enter(path: string, shown: string, follow = false): Promise<Folder> {
    try {
      const fd = await promisify(openDescriptor)(path, flagsOf(follow));
      return new Folder(shown, fd, await promisify(fstat)(fd));
    } catch (error) {
      throw refusal(error, shown, follow);
    }
  }

  /** A path of a name in it, which leads there as long as the folder is open, whatever its own path leads to by then. */
  at(name: string): string {
    if (HAS_DESCRIPTOR_PATHS) return `/proc/self/fd/${this.#fd}/${name}`;
    const now = lstatSync(this.path);
    if (now.ino !== this.#stat.ino || now.dev !== this.#stat.dev) throw new Error(`${this.path} was replaced`);
    return join(this.path, name);
  }

  #folder(name: string, make: boolean): Folder {
    const path = this.at(name);
    const shown = join(this.path, name);
    try {
      if (make) mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    return Folder.#at(path, shown);
  }

  /** The user that created it; null if the system does not say. */
  get owner(): number | null {
    return self() === null ? null : this.#stat.uid;
  }

  get isOwn(): boolean {
    return this.owner === self();
  }

  /** A folder in it. @throws Error */
  folder(name: string, make: boolean): Folder {
    return this.#folder(name, make);
  }

  /**
   * A descriptor of a regular file in it. For appending, the file must belong to this user and have a single hard link;
   * it is created if missing. @throws the system's error, or one that says what the file is
   */
  openFile(name: string, mode: 'read' | 'append'): number {
    const how = mode === 'read' ? O_RDONLY : O_RDWR | O_APPEND | O_CREAT;
    const shown = join(this.path, name);
    let fd: number;
    try {
      fd = openSync(this.at(name), how | O_NOFOLLOW | O_NONBLOCK, 0o600);
    } catch (error) {
      if (errorCode(error) === 'ELOOP') throw new Error(`${shown} is a link, and is not followed`);
      throw error;
    }
    const problem = folderProblem(fstatSync(fd), mode);
    if (problem === null) return fd;
    closeSync(fd);
    throw new Error(`${shown} ${problem}`);
  }

  /** The names in it, in order. @throws Error */
  names(): string[] {
    return readdirSync(HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${this.#fd}/` : this.at('')).sort();
  }

  /**
   * Writes a complete file for this user only: readers see the previous file or this one. @throws the system's error
   */
  async replaceFile(name: string, parts: readonly Buffer[]): Promise<void> {
    const made = `${name}.${process.pid}.new`;
    const handle = await open(this.at(made), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      for (const part of parts) await handle.writeFile(part);
      await handle.close();
      renameSync(this.at(made), this.at(name));
    } catch (error) {
      await handle.close().catch(() => {});
      this.remove(made);
      throw error;
    }
  }

  /** The regular files in it. */
  list(): { name: string; size: number; modified: number }[] {
    return this.names().flatMap((name) => {
      const stat = lstatSync(this.at(name), { throwIfNoEntry: false });
      return stat?.isFile() ? [{ name, size: stat.size, modified: stat.mtimeMs }] : [];
    });
  }

  remove(name: string): void {
    try {
      unlinkSync(this.at(name));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const flagsOf = (follow: boolean): number => O_RDONLY | O_DIRECTORY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW);

function refusal(error: unknown, shown: string, follow: boolean): unknown {
  const code = errorCode(error);
  if (follow || (code !== 'ENOTDIR' && code !== 'ELOOP')) return error;
  return Object.assign(new Error(`${shown} is a link or no folder, and is not followed`), { code });
}

function folderProblem(stat: Stats, mode: 'read' | 'append'): string | null {
  if (!stat.isFile()) return 'is not a regular file';
  if (mode === 'read') return null;
  if (stat.nlink > 1) return 'has a second name somewhere (a hard link)';
  const user = self();
  return user !== null && stat.uid !== user ? `belongs to another user (${stat.uid})` : null;
}

/** The owner of an open file, if the system says. */
export const ownerOf = (fd: number): number | null => (self() === null ? null : fstatSync(fd).uid);

/** Whether an open file is this user's alone. */
export const isOwnFile = (fd: number): boolean => folderProblem(fstatSync(fd), 'append') === null;

/**
 * The text of a regular file that may be anything: links are not followed, and opening does not block. @throws Error
 */
export const readRegular = (path: string, most: number): string => readRegularBytes(path, most).toString('utf8');

/** The same, as bytes. @throws Error */
export function readRegularBytes(path: string, most: number): Buffer {
  const folder = Folder.open(dirname(path), [], false);
  try {
    const fd = folder.openFile(basename(path), 'read');
    try {
      const { size } = fstatSync(fd);
      if (size > most) throw new Error(`${path} has ${size} bytes, more than ${most}`);
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } finally {
    folder.close();
  }
}
