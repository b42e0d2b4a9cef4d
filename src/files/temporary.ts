import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reasonOf } from '../text/problems.ts';

/** Makes a folder of this user alone. @throws Error that names the folder it should lie in, and what names another */
export function makeTemporary(prefix: string, parent = tmpdir()): string {
  try {
    return mkdtempSync(join(parent, prefix));
  } catch (error) {
    throw new Error(`the temporary folder ${parent} cannot be used (${reasonOf(error)}); TMPDIR names another`);
  }
}
