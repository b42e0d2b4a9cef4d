import type { ChildProcess } from 'node:child_process';

/**
 * Ends a sandbox at once. Its first process dies with bubblewrap only once it has asked for that; one that is killed sooner
 * leaves it waiting for ever to be told its user (bubblewrap.c: child_wait_fd). It still has bubblewrap's group then.
 */
export function killWhole(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL'); // all of it has ended, or it has no group yet
  }
}
