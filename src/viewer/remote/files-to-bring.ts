import { stepOfName } from '../../core/dump/paths.ts';
import { rolloutEntries } from '../../core/dump/run-folders.ts';
import { itemAt } from '../../core/lists/at.ts';
import type { RemoteFile } from './machine.ts';

/** The files that walking the folder would open, and those they need beside them; the newest step first. */
export function filesToBring(root: string, files: readonly RemoteFile[]): RemoteFile[] {
  const isAlone = files.length === 1 && itemAt(files, 0).path === root;
  const wanted = isAlone ? files.slice() : files.filter(isWanted(root, files));
  const steps = new Map(wanted.map((file) => [file, stepOfName(file.path) ?? -1]));
  return wanted.sort((a, b) => steps.get(b)! - steps.get(a)! || b.modified - a.modified);
}

/** The newest file and all others of its step, from a list with the newest first. */
export function filesOfNewestStep(files: readonly RemoteFile[]): Set<RemoteFile> {
  const [first] = files;
  const step = first === undefined ? null : stepOfName(first.path);
  return new Set(files.filter((file) => file === first || (step !== null && stepOfName(file.path) === step)));
}

/** Descriptions of tools that many lines share; readers of the lines ask for it by its path. */
export const isToolsFile = (path: string): boolean => /\/\.rollout-viewer\/tools-[0-9a-f]{16}\.json$/.test(path);

function isWanted(root: string, files: readonly RemoteFile[]): (file: RemoteFile) => boolean {
  const folders = new Map<string, Map<string, boolean>>();
  for (const { path } of files) {
    for (let at = path, isFolder = false; at.length > root.length; isFolder = true) {
      const folder = at.slice(0, at.lastIndexOf('/'));
      const entries = folders.get(folder) ?? new Map<string, boolean>();
      folders.set(folder, entries.set(at.slice(folder.length + 1), isFolder));
      at = folder;
    }
  }
  const shown = new Set<string>();
  for (const [folder, entries] of folders)
    for (const { name } of rolloutEntries(
      folder,
      [...entries].map(([name, isDirectory]) => ({ name, isDirectory })),
    ))
      shown.add(`${folder}/${name}`);
  return ({ path }) => {
    if (isToolsFile(path)) return true;
    for (let at = path; at.length > root.length; at = at.slice(0, at.lastIndexOf('/')))
      if (!shown.has(at)) return false;
    return true;
  };
}
