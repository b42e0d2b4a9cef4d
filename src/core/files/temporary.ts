import { mkdtempSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../text/problems.ts';
import { errorCode } from '../text/thrown.ts';

/** Creates a folder for this user only. @throws Error that names the parent folder, and how to choose another */
export function makeTemporary(prefix: string, parent = tmpdir()): string {
  try {
    return mkdtempSync(join(parent, prefix));
  } catch (error) {
    throw temporaryProblem(error, parent);
  }
}

/** Names the temporary folder in an error, which otherwise would be blamed on the dump being read. */
export function temporaryProblem(error: unknown, parent = tmpdir()): Error {
  const remedy = 'TMPDIR names another';
  return isFull(error)
    ? new Error(`no room left in the temporary folder ${parent}; ${remedy}`)
    : new Error(`the temporary folder ${parent} cannot be used (${reasonOf(error)}); ${remedy}`);
}

/** Names the folder of copies in an error of a full disk, which otherwise says nothing of where. */
export const roomProblem = (error: unknown, folder: string): unknown =>
  isFull(error)
    ? new Error(`no room left for copies in ${folder}; free some, or name another place with XDG_CACHE_HOME`)
    : error;

export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');

/**
 * Writes everything: on a nearly full disk a write takes only a part, and reports it only through the returned number.
 */
export function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}
