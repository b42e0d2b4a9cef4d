import { chmodSync, constants, copyFileSync, linkSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import type { ChangedPath } from './tree.ts';
import { isWhiteout, namesIn, statOf } from './tree.ts';

/**
 * Puts layers above an image together as one, in a new folder: overlayfs takes 500.
 * @param layers their folders, the oldest first @param changed what differs from the image after the last of them
 */
export function mergeLayers(layers: readonly string[], into: string, changed: Iterable<ChangedPath>): void {
  mkdirSync(into, { mode: 0o755 });
  let gone: Buffer | null = null;
  const add = (layer: string, at: string): void => {
    for (const name of namesIn(`${layer}${at}`)) {
      const path = `${at}/${name}`;
      const stats = statOf(`${layer}${path}`);
      if (stats === null) continue;
      const [from, to] = [bytes(`${layer}${path}`), bytes(`${into}${path}`)];
      const before = statOf(`${into}${path}`);
      if (before !== null && !(before.isDirectory() && stats.isDirectory())) rmSync(to, { recursive: true });
      if (stats.isDirectory()) {
        if (before?.isDirectory() !== true) mkdirSync(to);
        add(layer, path);
        chmodSync(to, stats.mode & 0o7777);
        continue;
      }
      if (stats.isFile()) {
        // A further link would change the file's inode, by which its layer is known to be whole.
        copyFileSync(from, to, constants.COPYFILE_FICLONE);
        chmodSync(to, stats.mode & 0o7777);
        utimesSync(to, stats.atime, stats.mtime);
      } else linkSync(from, to);
      if (isWhiteout(stats)) gone ??= from;
    }
  };
  for (const layer of layers) add(layer, '');
  // A folder that came after a removed one would show what the image has there.
  for (const { path, change } of changed) {
    const isHidden = change === 'deleted' && statOf(`${into}${path}`) === null;
    if (gone !== null && isHidden && statOf(`${into}${parentOf(path)}`)?.isDirectory() === true)
      linkSync(gone, bytes(`${into}${path}`));
  }
}

/** Names hold any byte. */
const bytes = (path: string): Buffer => Buffer.from(path, 'latin1');

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
