import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pause, TimedOutError, withTimeout } from '../../../src/core/async/timeout.ts';
import { withClock } from '../../../src/engine/common/call-clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
const never = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

describe('a time limit', () => {
  test('ends the work, and says after how many seconds', async () => {
    const ended = expect(withTimeout(2, undefined, never)).rejects.toThrow(new TimedOutError(2));
    await vi.advanceTimersByTimeAsync(2000);
    await ended;
  });

  test('ends with whoever asked, for the reason that it had', async () => {
    const outer = new AbortController();
    const ended = expect(withTimeout(2, outer.signal, never)).rejects.toThrow('enough');
    outer.abort(new Error('enough'));
    await ended;
    expect(await withTimeout(2, undefined, async () => 4)).toBe(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('longer than a timer of Node does not fire at once', async () => {
    let ended = false;
    const stop = new AbortController();
    const work = withTimeout(1e9, stop.signal, never).catch(() => {
      ended = true;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ended).toBe(false);
    stop.abort();
    await work;
    const rest = pause(1e12, stop.signal).catch(() => 'over');
    expect(await rest).toBe('over');
  });
});

describe('the clock of a call', () => {
  test('stops while the call waits for its place, and continues with what is left', async () => {
    let pauses = { pause() {}, resume() {} };
    const told = withClock(2, undefined, async ({ signal }, clock) => {
      pauses = clock;
      await never(signal);
    }).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(1500);
    pauses.pause();
    pauses.pause();
    await vi.advanceTimersByTimeAsync(60_000);
    pauses.resume();
    await vi.advanceTimersByTimeAsync(499);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    expect(await told).toBe('timed out after 2 s');
  });

  test('says how long it waited', async () => {
    const work = withClock(2, undefined, async (_, clock) => {
      clock.pause();
      await new Promise((resolve) => setTimeout(resolve, 3000));
      clock.resume();
      return 4;
    });
    await vi.advanceTimersByTimeAsync(3000);
    expect(await work).toEqual({ value: 4, waited: 3 });
  });
});
