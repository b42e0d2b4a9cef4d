// The memory of a whole run where no cgroup counts it. rlimits count one process at a time, and not what processes
// share, so many small ones could still take the machine; this adds up what they hold.
import type { Cgroup } from './cgroups.ts';
import { heldByKernel, usageOfTree } from './usage.ts';

const INTERVAL_MS = 50;
/** Once a run holds a quarter of its limit: two processors fill some 3 MB a millisecond. */
const CLOSE_INTERVAL_MS = 10;
/** A look at a bomb of 256 processes takes 20 ms of the thread that answers /v1/ping: the rest is so many times as long. */
const SHARE = 8;

/**
 * Looks at the processes and all below them until told to stop.
 * @param pidsOf in namespaces of their own: what the kernel holds for those of the first counts, too
 */
export function watchRun(pidsOf: () => readonly number[], limitMb: number, onExcess: () => void): () => void {
  return watch(
    () => {
      const pids = pidsOf();
      return pids.length === 0 ? 0 : (usageOfTree(...pids)?.bytes ?? 0) + heldByKernel(pids[0]!);
    },
    limitMb,
    onExcess,
  );
}

/** The same for a process of the host. */
export function watchProcess(pid: number, limitMb: number, onExcess: () => void): () => void {
  return watch(() => usageOfTree(pid)?.bytes ?? 0, limitMb, onExcess);
}

function watch(bytesOf: () => number, limitMb: number, onExcess: () => void): () => void {
  const limit = limitMb * 1024 * 1024;
  const look = () => {
    const began = performance.now();
    const bytes = bytesOf();
    if (bytes > limit) return onExcess();
    const interval = bytes > limit / 4 ? CLOSE_INTERVAL_MS : INTERVAL_MS;
    timer = setTimeout(look, Math.max(interval, SHARE * (performance.now() - began)));
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
