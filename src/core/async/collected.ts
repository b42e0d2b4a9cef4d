import { Session } from 'node:inspector';

let session: Session | null = null;

/**
 * Collects this thread's garbage now. V8 waits until there is much of it, and the texts of a long record are several times
 * what is kept of it. Threads alone may call it: it takes tens of milliseconds.
 */
export function collectGarbage(): void {
  if (session === null) {
    session = new Session();
    session.connect();
  }
  session.post('HeapProfiler.collectGarbage');
}
