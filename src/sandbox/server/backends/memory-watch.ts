// The memory of a whole run. rlimits count one process at a time, and not what processes share, so many small ones
// could still take the machine; this adds up what they hold.
import { readFileSync } from 'node:fs';

const INTERVAL_MS = 100;
const PAGE_BYTES = 4096;

/** Looks at the process and all below it ten times a second, until told to stop. Linux only; elsewhere it sees nothing. */
export function watchMemory(pid: number, limitMb: number, onExcess: () => void): () => void {
  const timer = setInterval(() => {
    if (residentBytes(pid) <= limitMb * 1024 * 1024) return;
    clearInterval(timer);
    onExcess();
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Resident pages without file-backed ones, which are the system's own libraries. */
function residentBytes(root: number): number {
  let bytes = 0;
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    try {
      const status = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ');
      bytes += (Number(status[1]) - Number(status[2])) * PAGE_BYTES + sharedMemory(pid);
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
      for (const child of children.split(' ')) if (child !== '') open.push(Number(child));
    } catch {
      // It has ended since.
    }
  }
  return bytes;
}

const sharedMemory = (pid: number): number =>
  Number(/^RssShmem:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
