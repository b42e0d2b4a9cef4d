import { lstatSync, readdirSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from '../../core/files/alive.ts';
import { makeTemporary } from '../../core/files/temporary.ts';

/** A socket path is limited to 107 bytes; ssh needs 57 for its name, and the folder's name takes 22. */
const LONGEST_PARENT = 27;
const NAME = /^rv-ssh-(\d+)-\w{6}$/;

const parentFolder = (): string => (tmpdir().length > LONGEST_PARENT ? '/tmp' : tmpdir());

/** A folder of this process for the sockets of its ssh. */
export function makeSshFolder(parent = parentFolder()): string {
  const folder = makeTemporary(`rv-ssh-${process.pid}-`, parent);
  clearLeft(parent);
  return folder;
}

/** A killed process leaves its folder; ssh itself removes the socket when its connection ends. */
function clearLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (Number.isNaN(pid) || isProcessAlive(pid)) continue;
    try {
      const path = join(parent, name);
      if (lstatSync(path).uid === process.geteuid?.()) rmdirSync(path);
    } catch {
      // A folder that still holds a socket stays, as does one that another process is removing.
    }
  }
}
