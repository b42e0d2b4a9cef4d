import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { sep } from 'node:path';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * The text of a small file that came with a dump; null if it is missing, larger than `most` bytes, or not a regular
 * file. A hostile dump may have a link or a pipe in its place: links are not followed, and the read never waits for a pipe.
 */
export function readStrangerFile(path: string, most: number): string | null {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > most) return null;
    const bytes = Buffer.allocUnsafe(size);
    let read = 0;
    while (read < size) {
      const more = readSync(fd, bytes, read, size - read, read);
      if (more === 0) break;
      read += more;
    }
    return bytes.toString('utf8', 0, read);
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Whether a path exists, and is in a folder or below it once every link is followed. */
export function isInside(root: string, path: string): boolean {
  try {
    const [real, base] = [realpathSync(path), realpathSync(root)];
    return real === base || real.startsWith(base.endsWith(sep) ? base : base + sep);
  } catch {
    return false;
  }
}

/** Like isInside, for a regular file: opening a pipe would block. */
export function isFileInside(root: string, path: string): boolean {
  try {
    return isInside(root, path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
