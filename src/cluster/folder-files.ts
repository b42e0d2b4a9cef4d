import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Resolves to null if the file is not there, which may mean not there yet. @throws Error for a link, a pipe or the like */
export async function readEntry(path: string): Promise<string | null> {
  try {
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile() || found.size > MOST_BYTES) throw new Error(`${path} is no file of a queue`);
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw errorCode(error) === 'ELOOP' ? new Error(`${path} is a link, and is not followed`) : error;
  }
}

/** Writes beside, and renames: nobody reads half of it. @param temporary a folder of the same file system */
export async function writeEntry(temporary: string, path: string, text: string): Promise<void> {
  const part = join(temporary, randomUUID());
  try {
    const handle = await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

/** Overwrites in place: NFS checks a file that is opened against the server, but may show a renamed one late. */
export async function overwriteEntry(path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  const handle = await open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(`${path} is no file of a queue`);
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.truncate(bytes.length);
  } finally {
    await handle.close();
  }
}

/** The names in a folder, of folders or of everything else; none if the folder is not there. A link is not followed. */
export async function entryNames(folder: string, kind: 'files' | 'folders' = 'files'): Promise<string[]> {
  try {
    if (!(await lstat(folder)).isDirectory()) throw new Error(`${folder} is a link or no folder, and is not followed`);
    const found = await readdir(folder, { withFileTypes: true });
    return found.flatMap((one) => (one.isDirectory() === (kind === 'folders') ? one.name : []));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Moves a bad entry to where `queue` lists it. */
export async function putEntryAside(root: string, path: string, name: string): Promise<void> {
  await rename(path, join(root, 'aside', `${randomUUID()}-${name}`.slice(0, 200))).catch(() => {});
}
