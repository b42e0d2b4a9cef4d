import { onAbort, untilAborted } from './abort.ts';

/** The longest that a timer of Node can wait; a longer one would ring at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The time given for something is over. */
export class TimedOutError extends Error {
  override name = 'TimedOutError';
  constructor(seconds: number) {
    super(`timed out after ${seconds} s`);
  }
}

/**
 * Runs `work` with a signal of its own, which ends with `outer`, or once `stop` is called. Rejects with the reason as soon as it does: `work`
 * may ignore its signal.
 */
export function stoppable<T>(
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal, stop: (reason: unknown) => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (outer?.aborted) return reject(outer.reason);
    const abort = new AbortController();
    const stop = (reason: unknown) => {
      stopListening();
      reject(reason);
      abort.abort(reason);
    };
    const stopListening = onAbort(outer, () => stop(outer!.reason));
    (async () => work(abort.signal, stop))().finally(stopListening).then(resolve, reject);
  });
}

/** Runs `work` with a signal that ends after `seconds` or with `outer`. @throws TimedOutError, or the reason of `outer` */
export async function withTimeout<T>(
  seconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await stoppable(outer, (signal, stop) => {
      timer = setTimeout(() => stop(new TimedOutError(seconds)), Math.min(seconds * 1000, MAX_DELAY_MS));
      return work(signal);
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Waits `ms` milliseconds. @throws the reason of the signal, as soon as it aborts */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const rest = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, MAX_DELAY_MS));
  });
  return untilAborted(rest, signal).finally(() => clearTimeout(timer));
}
