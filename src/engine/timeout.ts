import { setMaxListeners } from 'node:events';

/** The longest that a timer of Node can wait; a longer one would ring at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The time given for something is over. */
export class TimedOutError extends Error {
  override name = 'TimedOutError';
  constructor(seconds: number) {
    super(`timed out after ${seconds} s`);
  }
}

/** Rejects once the signal is aborted, however long `work` goes on: a tool may not heed its signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    work.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Runs `work` with a signal that ends after `seconds` or with `outer`. */
export async function withTimeout<T>(
  seconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  // Parallel calls hang on one signal, and rollouts on their caller's: that many listeners are no leak.
  setMaxListeners(0, stop.signal, ...(outer ? [outer] : []));
  const forward = () => stop.abort(outer?.reason);
  if (outer?.aborted) forward();
  outer?.addEventListener('abort', forward, { once: true });
  const timer = setTimeout(() => stop.abort(new TimedOutError(seconds)), Math.min(seconds * 1000, MAX_DELAY_MS));
  try {
    return await untilAborted((async () => work(stop.signal))(), stop.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', forward);
  }
}
