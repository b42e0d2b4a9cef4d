// The memory of a whole run where no cgroup counts it. rlimits count one process at a time, and not what processes
// share, so many small ones could still take the machine; this adds up what they hold.
import { usageOfTree } from './usage.ts';

const INTERVAL_MS = 50;

/** Looks at the process and all below it twenty times a second, until told to stop. */
export function watchMemory(pid: number, limitMb: number, onExcess: () => void): () => void {
  const timer = setInterval(() => {
    if ((usageOfTree(pid)?.bytes ?? 0) <= limitMb * 1024 * 1024) return;
    clearInterval(timer);
    onExcess();
  }, INTERVAL_MS);
  return () => clearInterval(timer);
}
