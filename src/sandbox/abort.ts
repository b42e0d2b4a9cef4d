import { setMaxListeners } from 'node:events';

/**
 * Calls the listener when the signal aborts; returns how to stop listening. Hundreds of executions may share one
 * signal, which Node 20 would announce as a memory leak on the user's screen, so its listeners are not counted.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/** Aborts with the first of the given signals; `unlink` must be called when the work is over. */
export function linked(...signals: (AbortSignal | undefined)[]): { abort: AbortController; unlink: () => void } {
  const abort = new AbortController();
  const offs = signals.map((signal) => {
    if (signal?.aborted) abort.abort(signal.reason);
    return onAbort(signal, () => abort.abort(signal?.reason));
  });
  const unlink = () => {
    for (const off of offs) off();
  };
  return { abort, unlink };
}
