import { readFileSync } from 'node:fs';
import { open, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isProcessAlive } from '../../core/files/alive.ts';
import { errorCode } from '../../core/text/thrown.ts';

/** The holder of a lock. `started` distinguishes a process from a later one with the same pid, if the system reports it. */
interface Holder {
  pid: number;
  host: string;
  started: string | null;
}

/** Takes the lock file for this process. @throws Error naming the holder and what to do */
export async function takeLock(path: string): Promise<void> {
  for (;;) {
    try {
      const handle = await open(path, 'wx');
      await handle.writeFile(JSON.stringify(holderOf(process.pid)));
      await handle.close();
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const holder = readHolder(await readFile(path, 'utf8').catch(() => ''));
    if (holder && holder.host !== hostname())
      throw new Error(
        `another run (process ${holder.pid} on ${holder.host}) is writing here, or was when its machine went away; once it has ended there, delete ${path}`,
      );
    if (holder && holder.pid !== process.pid && isLockHolderAlive(holder))
      throw new Error(`another run (process ${holder.pid}) is writing here; wait for it, or end it (${path})`);
    await rm(path, { force: true });
  }
}

const holderOf = (pid: number): Holder => ({ pid, host: hostname(), started: processStart(pid) });

/** A lock of an earlier version holds only the number. */
function readHolder(text: string): Holder | null {
  try {
    const value = JSON.parse(text) as Partial<Holder> | number;
    if (typeof value === 'number') return { pid: value, host: hostname(), started: null };
    const { pid, host, started } = value;
    if (typeof pid !== 'number' || typeof host !== 'string') return null;
    return { pid, host, started: typeof started === 'string' ? started : null };
  } catch {
    return null;
  }
}

function isLockHolderAlive({ pid, started }: Holder): boolean {
  const now = processStart(pid);
  if (started !== null && now !== null && started !== now) return false;
  return pid > 0 && isProcessAlive(pid);
}

/** When a process started, in ticks since boot; null if the system has no /proc. */
function processStart(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain spaces; field 22 overall is the 20th after it.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
