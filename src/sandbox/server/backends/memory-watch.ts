// The memory of a whole run where no cgroup counts it. rlimits count one process at a time, and not what processes
// share, so many small ones could still take the machine; this adds up what they hold.
import type { Cgroup } from './cgroups.ts';
import { heldByKernel, usageOfTree } from './usage.ts';

const INTERVAL_MS = 50;
/** Once a run holds a quarter of its limit: two processors fill some 3 MB a millisecond. */
const CLOSE_INTERVAL_MS = 10;

/**
 * Looks at the process and all below it until told to stop.
 * @param pidOf a process in namespaces of its own: what the kernel holds for those counts, too
 */
export function watchRun(pidOf: () => number | null, limitMb: number, onExcess: () => void): () => void {
  return watch(pidOf, (pid) => (usageOfTree(pid)?.bytes ?? 0) + heldByKernel(pid), limitMb, onExcess);
}

/** The same for a process of the host. */
export function watchProcess(pid: number, limitMb: number, onExcess: () => void): () => void {
  return watch(
    () => pid,
    () => usageOfTree(pid)?.bytes ?? 0,
    limitMb,
    onExcess,
  );
}

function watch(
  pidOf: () => number | null,
  bytesOf: (pid: number) => number,
  limitMb: number,
  onExcess: () => void,
): () => void {
  const limit = limitMb * 1024 * 1024;
  const look = () => {
    const pid = pidOf();
    const bytes = pid === null ? 0 : bytesOf(pid);
    if (bytes > limit) onExcess();
    else timer = setTimeout(look, bytes > limit / 4 ? CLOSE_INTERVAL_MS : INTERVAL_MS);
  };
  let timer = setTimeout(look, INTERVAL_MS);
  return () => clearTimeout(timer);
}

const GROUP_INTERVAL_MS = 100;

/** The kernel ends one process of a run that goes too far in a cgroup; this reports it, to end the rest. */
export function watchGroup(group: Cgroup, onExcess: () => void): () => void {
  const timer = setInterval(() => {
    if (!group.killedForMemory) return;
    clearInterval(timer);
    onExcess();
  }, GROUP_INTERVAL_MS);
  return () => clearInterval(timer);
}
