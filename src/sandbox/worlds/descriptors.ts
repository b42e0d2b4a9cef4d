import { readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { OWN_DESCRIPTORS, shellQuoted } from './world-shell.ts';

interface OpenDescriptors {
  /** Commands that open them in another shell, at the same place of the same file. */
  reopen: string[];
  /** Those that no other shell can open. */
  lost: string[];
}

const APPENDS = 0o2000;
/** A shell marks so what it puts aside for itself while a command has other streams. */
const CLOSED_BY_EXEC = 0o2000000;
const ACCESS = 3;

/** The descriptors that a shell has opened by itself, such as those of `exec 5>log`. */
export function openDescriptors(pid: number): OpenDescriptors {
  const open: OpenDescriptors = { reopen: [], lost: [] };
  for (const name of namesOf(`/proc/${pid}/fd`)) {
    const number = Number(name);
    if (OWN_DESCRIPTORS.includes(number)) continue;
    try {
      const link = `/proc/${pid}/fd/${name}`;
      const path = readlinkSync(link);
      const info = readFileSync(`/proc/${pid}/fdinfo/${name}`, 'latin1');
      const at = Number(/^pos:\s*(\d+)$/m.exec(info)?.[1] ?? 0);
      const flags = Number.parseInt(/^flags:\s*(\d+)$/m.exec(info)?.[1] ?? '0', 8);
      if ((flags & CLOSED_BY_EXEC) !== 0) continue;
      if (existsAt(statSync(link), `/proc/${pid}/root${path}`)) open.reopen.push(reopenText(number, path, flags, at));
      else open.lost.push(`descriptor ${number} of the shell: ${path.replace(/^(\w+):\[\d+\]$/, 'a $1')}`);
    } catch {
      // It was closed meanwhile.
    }
  }
  return open;
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Whether a name still leads to an open regular file. */
function existsAt(open: Stats, path: string): boolean {
  const named = statSync(path, { throwIfNoEntry: false });
  return open.isFile() && named?.ino === open.ino && named.dev === open.dev;
}

function reopenText(number: number, path: string, flags: number, at: number): string {
  const file = shellQuoted(path);
  if ((flags & ACCESS) !== 0 && (flags & APPENDS) !== 0) return `exec ${number}>>${file}`;
  const skip = at === 0 ? '' : `; command head -c ${at} <&${number} >/dev/null`;
  return `exec ${number}${(flags & ACCESS) === 0 ? '<' : '<>'}${file}${skip}`;
}
