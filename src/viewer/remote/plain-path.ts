import { type RemoteFile, SourceError } from './machine.ts';

/** More files than any dump has. */
export const MOST_FILES = 200_000;

export const tooManyFiles = (path: string): SourceError =>
  new SourceError(`${path}: more than ${MOST_FILES} files; name a folder nearer to the dump`, false);

/** An absolute path that leads nowhere but down. */
export const isPlainPath = (path: string): boolean =>
  path.startsWith('/') &&
  !/[\0\p{Surrogate}]/u.test(path) &&
  !path
    .slice(1)
    .split('/')
    .some((part) => part === '..' || part === '.');

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** Validates another machine's file list, which determines local paths. @throws SourceError for anything that no honest machine lists */
export function checkedListing(
  { root, files }: { root: string; files: RemoteFile[] },
  asked: string,
): { root: string; files: RemoteFile[] } {
  if (!isPlainPath(root)) throw new SourceError(`${asked}: the machine calls it ${root}, which is not a path`, false);
  if (files.length > MOST_FILES) throw tooManyFiles(asked);
  const below = root === '/' ? '/' : `${root.replace(/\/+$/, '')}/`;
  const isOwn = ({ path, size, modified }: RemoteFile) =>
    isPlainPath(path) && (path === root || path.startsWith(below)) && isCount(size) && isCount(modified);
  return { root, files: files.filter(isOwn) };
}
