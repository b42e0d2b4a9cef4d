import { linked, untilAborted } from './abort.ts';

/** The longest that a timer of Node can wait; a longer one would ring at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The time given for something is over. */
export class TimedOutError extends Error {
  override name = 'TimedOutError';
  constructor(seconds: number) {
    super(`timed out after ${seconds} s`);
  }
}

/** Runs `work` with a signal that ends after `seconds` or with `outer`. @throws TimedOutError, or the reason of `outer` */
export async function withTimeout<T>(
  seconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { abort, unlink } = linked(outer);
  const timer = setTimeout(() => abort.abort(new TimedOutError(seconds)), Math.min(seconds * 1000, MAX_DELAY_MS));
  try {
    return await untilAborted((async () => work(abort.signal))(), abort.signal);
  } finally {
    clearTimeout(timer);
    unlink();
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
