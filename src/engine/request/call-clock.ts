import { linked, untilAborted } from '../../async/abort.ts';
import { TimedOutError } from '../../async/timeout.ts';

/** The time that a call may take. A tool with a queue stops it while the call waits for its place. */
export interface CallClock {
  pause(): void;
  resume(): void;
}

const MAX_DELAY_MS = 2 ** 31 - 1;

/** Runs `work` with a signal that ends after `seconds` of running, or with `outer`. @throws TimedOutError, or the reason of `outer` */
export async function withClock<T>(
  seconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal, clock: CallClock) => Promise<T>,
): Promise<{ value: T; waited: number }> {
  const { abort, unlink } = linked(outer);
  let left = seconds * 1000;
  let since = performance.now();
  let waited = 0;
  let isRunning = true;
  const ring = () => abort.abort(new TimedOutError(seconds));
  let timer = setTimeout(ring, Math.min(left, MAX_DELAY_MS));
  const clock: CallClock = {
    pause() {
      if (!isRunning) return;
      isRunning = false;
      clearTimeout(timer);
      left -= performance.now() - since;
      since = performance.now();
    },
    resume() {
      if (isRunning) return;
      isRunning = true;
      waited += performance.now() - since;
      since = performance.now();
      timer = setTimeout(ring, Math.min(Math.max(0, left), MAX_DELAY_MS));
    },
  };
  try {
    const value = await untilAborted((async () => work(abort.signal, clock))(), abort.signal);
    return { value, waited: waited / 1000 };
  } finally {
    clearTimeout(timer);
    unlink();
  }
}
