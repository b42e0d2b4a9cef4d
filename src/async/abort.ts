import { setMaxListeners } from 'node:events';

/**
 * Calls the listener when the signal aborts, and returns how to stop listening. Hundreds of executions may share one
 * signal, which Node 20 would report as a memory leak on the user's screen, so its listeners are not counted.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * Aborts with the first of the given signals; `unlink` must be called when the work is over.
 * AbortSignal.any would leave its listeners on a signal that outlives the work.
 */
export function linked(...signals: (AbortSignal | undefined)[]): { abort: AbortController; unlink: () => void } {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  const offs = signals.map((signal) => {
    if (signal?.aborted) abort.abort(signal.reason);
    return onAbort(signal, () => abort.abort(signal?.reason));
  });
  const unlink = () => {
    for (const off of offs) off();
  };
  return { abort, unlink };
}

/** Rejects with the signal's reason once it aborts, however long `work` goes on: a task may ignore its signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(stopListening);
  });
}
