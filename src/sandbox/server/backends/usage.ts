// The use of a process and all below it, by /proc. Linux only; elsewhere there is nothing to read.
import { readdirSync, readFileSync, statfsSync } from 'node:fs';
import type { Usage } from './backend.ts';

const PAGE_BYTES = 4096;
const TICK_MS = 10;

/** The usage of these processes and all below them; null once they have ended. */
export function usageOfTree(...roots: readonly number[]): Usage | null {
  const usage: Usage = { cpuMs: 0, bytes: 0, processes: 0 };
  const open = [...roots];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    try {
      // After the name, which may hold anything, in parentheses.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // utime and stime, and those of children that it has waited for.
      for (const index of [11, 12, 13, 14]) usage.cpuMs += Number(fields[index]) * TICK_MS;
      usage.bytes += residentBytes(pid);
      usage.processes++;
      // A child stands below the thread that forked it.
      for (const thread of threadsOf(pid, Number(fields[17]))) {
        const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1');
        for (const child of children.split(' ')) if (child !== '') open.push(Number(child));
      }
    } catch {
      // It has ended since.
    }
  }
  return usage.processes === 0 ? null : usage;
}

const threadsOf = (pid: number, count: number): (string | number)[] =>
  count === 1 ? [pid] : readdirSync(`/proc/${pid}/task`);

/** Resident pages without file-backed ones, which are the system's own libraries; shared memory counts as its own. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
  const own = (Number(status[1]) - Number(status[2])) * PAGE_BYTES;
  return own + Number(/^RssShmem:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
}

/** A socket's two buffers, full; a name in a tmpfs with all that the kernel keeps of it. */
const SOCKET_BYTES = 200 * 1024;
const INODE_BYTES = 1024;
/** Fewer are those of an honest program. */
const FEW_SOCKETS = 64;
const FEW_INODES = 10_000;

/** About what the kernel holds for the namespaces of a process: socket buffers, and the names in its files' memory. */
export function heldByKernel(pid: number): number {
  let bytes = 0;
  try {
    const sockets = readFileSync(`/proc/${pid}/net/unix`, 'latin1').split('\n').length - 2;
    if (sockets > FEW_SOCKETS) bytes += sockets * SOCKET_BYTES;
  } catch {
    // It has ended since.
  }
  try {
    // Only who may trace it may follow this; then its tmpfs has no bound of its own.
    const { files, ffree } = statfsSync(`/proc/${pid}/root/tmp`);
    if (files - ffree > FEW_INODES) bytes += (files - ffree) * INODE_BYTES;
  } catch {
    // as above
  }
  return bytes;
}
