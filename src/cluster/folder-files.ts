import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Folder } from '../core/files/folder.ts';
import { errorCode } from '../core/text/thrown.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;
const MOST_BYTES = 512 << 20;

/** A shared folder that serves nobody at the moment: full, read-only, away. Time or its operator fixes it. */
const REFUSED = new Set(
  ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'EHOSTUNREACH'].concat([
    'ENOTCONN',
    'ENFILE',
    'EMFILE',
    'EBUSY',
  ]),
);

export const isFolderRefusal = (error: unknown): boolean => REFUSED.has(String(errorCode(error)));

/** A name in the folder, and those of the folders around it, outermost first. */
export type EntryPath = readonly [string, ...string[]];

function unless(code: string) {
  return (error: unknown): undefined => {
    if (errorCode(error) !== code) throw error;
    return undefined;
  };
}

/**
 * A folder that others write into. Each step reaches its files through open folders and refuses links, so replacing a folder by a link
 * to another place has no effect.
 */
export class SharedFolder {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** For display. */
  shown(path: readonly string[]): string {
    return join(this.root, ...path);
  }

  async #in<T>(names: readonly string[], work: (folder: Folder) => Promise<T>): Promise<T> {
    const folder = await Folder.enter(this.root, names);
    try {
      return await work(folder);
    } finally {
      folder.close();
    }
  }

  #at<T>(path: EntryPath, work: (path: string) => Promise<T>): Promise<T> {
    return this.#in(path.slice(0, -1), (folder) => work(folder.at(path.at(-1) ?? '')));
  }

  /** Makes a folder that may be there. */
  make(path: EntryPath): Promise<void> {
    return this.#at(path, (own) => mkdir(own).catch(unless('EEXIST')));
  }

  /** Resolves to null if the file is not there, which may mean not there yet. @throws Error for a link, a pipe or the like */
  async read(path: EntryPath): Promise<string | null> {
    const shown = this.shown(path);
    try {
      return await this.#at(path, async (own) => {
        const handle = await open(own, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
        try {
          const found = await handle.stat();
          if (!found.isFile() || found.size > MOST_BYTES) throw new Error(`${shown} is not a file of a queue`);
          return await handle.readFile('utf8');
        } finally {
          await handle.close();
        }
      });
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null;
      throw errorCode(error) === 'ELOOP' ? new Error(`${shown} is a link, and is not followed`) : error;
    }
  }

  /** Writes beside, and renames: nobody reads half of it. @param temporary a folder for half-written files */
  async write(temporary: EntryPath, path: EntryPath, text: string): Promise<void> {
    if (Buffer.byteLength(text) > MOST_BYTES)
      throw new Error(`a text of ${Buffer.byteLength(text)} bytes is larger than the ${MOST_BYTES} of a queue's file`);
    const part: EntryPath = [...temporary, randomUUID()];
    try {
      await this.#at(part, async (own) => {
        const handle = await open(own, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
        try {
          await handle.writeFile(text);
        } finally {
          await handle.close();
        }
      });
      await this.move(part, path);
    } catch (error) {
      await this.remove(part).catch(() => {});
      throw error;
    }
  }

  /** Overwrites in place: NFS checks a file that is opened against the server, but may show a renamed one late. */
  overwrite(path: EntryPath, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    return this.#at(path, async (own) => {
      const handle = await open(own, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
      try {
        if (!(await handle.stat()).isFile()) throw new Error(`${this.shown(path)} is not a file of a queue`);
        await handle.write(bytes, 0, bytes.length, 0);
        await handle.truncate(bytes.length);
      } finally {
        await handle.close();
      }
    });
  }

  /** The names in a folder, of folders or of everything else; none if the folder is not there. */
  async names(path: readonly string[], kind: 'files' | 'folders' = 'files'): Promise<string[]> {
    const found = await this.#in(path, (folder) => readdir(folder.at(''), { withFileTypes: true })).catch(
      unless('ENOENT'),
    );
    return (found ?? []).flatMap((one) => (one.isDirectory() === (kind === 'folders') ? one.name : []));
  }

  /** @throws the system's error, for example if the first is not there */
  move(from: EntryPath, to: EntryPath): Promise<void> {
    return this.#at(from, (source) => this.#at(to, (target) => rename(source, target)));
  }

  /** Gives a file a second name. @throws the system's error if that one is taken */
  link(from: EntryPath, to: EntryPath): Promise<void> {
    return this.#at(from, (source) => this.#at(to, (target) => link(source, target)));
  }

  /** Resolves to whether the file was there. */
  remove(path: EntryPath): Promise<boolean> {
    return this.#at(path, unlink).then(
      () => true,
      (error) => unless('ENOENT')(error) !== undefined,
    );
  }

  /** Removes a folder, its files, and those of the folders in it that are named. Anything else stays, and the folder with it. */
  async removeFolder(path: EntryPath, parts: readonly string[] = []): Promise<void> {
    for (const part of parts) await this.removeFolder([...path, part]);
    for (const name of await this.names(path)) await this.remove([...path, name]);
    await this.#at(path, (own) => rmdir(own)).catch(unless('ENOENT'));
  }

  /** When a file was last written, by the clock of the machine that holds it; null if it is not there. */
  async modified(path: EntryPath): Promise<number | null> {
    const found = await this.#at(path, (own) => lstat(own)).catch(unless('ENOENT'));
    return found?.mtimeMs ?? null;
  }

  /** Moves a bad entry to where `queue` lists it. */
  async putAside(path: EntryPath, name: string): Promise<void> {
    await this.move(path, ['aside', `${randomUUID()}-${name}`.slice(0, 200)]).catch(() => {});
  }
}
