import { readFileSync } from 'node:fs';
import { childrenOf, killAtOnce } from '../server/backends/usage.ts';

/** The processes below one. */
export function* descendantsOf(pid: number): Generator<number> {
  for (const child of childrenOf(pid)) {
    yield child;
    yield* descendantsOf(child);
  }
}

/** Whether a process is the first of a process namespace below this one. */
export function isFirst(pid: number): boolean {
  try {
    return /^NSpid:(?:\t\d+)+\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The words of a process; null if it has ended. */
export function commandLineOf(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}

const ROUNDS = 50;

/**
 * Stops processes and all that they start meanwhile, so that nothing changes a file while it is copied.
 * @returns the function that lets them go on
 */
export function stopAll(pidsOf: () => readonly number[]): () => void {
  const stopped = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const moving = pidsOf().filter((pid) => !stopped.has(pid));
    if (moving.length === 0) return () => signal(stopped, 'SIGCONT');
    signal(moving, 'SIGSTOP');
    for (const pid of moving) stopped.add(pid);
  }
  // They fork faster than they can be stopped.
  killAtOnce([...pidsOf(), ...stopped]);
  return () => {};
}

function signal(pids: Iterable<number>, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended.
    }
  }
}
