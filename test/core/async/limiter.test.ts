import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Limiter, limiterNamed } from '../../../src/core/async/limiter.ts';
import { mapOrdered } from '../../../src/core/async/map-ordered.ts';

describe('whatever happens to the executions', () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ kind: 'ask' as const }) },
    fc.record({ kind: fc.constantFrom('finish' as const, 'fail' as const), pick: fc.nat() }),
    fc.record({ kind: fc.constant('abort' as const), pick: fc.nat() }),
  );

  test('never more than the limit are in flight, they start in the order of asking, and the count ends at 0 (TestSingleNodeRateLimiterCase)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(action, { maxLength: 40 }), async (limit, actions) => {
        const limiter = new Limiter(limit);
        const asked: {
          abort: AbortController;
          settle?: (ok: boolean) => void;
          done: boolean;
          over: Promise<unknown>;
        }[] = [];
        const started: number[] = [];
        const running = () => asked.filter((one) => one.settle && !one.done);
        for (const step of actions) {
          if (step.kind === 'ask') {
            const index = asked.length;
            const abort = new AbortController();
            const one: (typeof asked)[number] = { abort, done: false, over: Promise.resolve() };
            asked.push(one);
            one.over = limiter
              .run(
                () => {
                  started.push(index);
                  return new Promise<void>((resolve, reject) => {
                    one.settle = (ok) => (ok ? resolve() : reject(new Error('rotten')));
                  });
                },
                { signal: abort.signal },
              )
              .catch(() => {})
              .finally(() => {
                one.done = true;
              });
          } else if (step.kind === 'abort') asked[step.pick % asked.length]?.abort.abort();
          else running()[step.pick % running().length]?.settle?.(step.kind === 'finish');
          await turn();
          const alive = asked.filter((one) => !one.done).length;
          expect(limiter.currentCount).toBe(Math.min(limit, alive));
          expect(running().length).toBe(limiter.currentCount);
          expect(limiter.waitingCount).toBe(alive - limiter.currentCount);
          expect(started).toEqual([...started].sort((a, b) => a - b));
        }
        while (running().length > 0) {
          for (const one of running()) one.settle?.(true);
          await turn();
        }
        await Promise.all(asked.map((one) => one.over));
        expect([limiter.currentCount, limiter.waitingCount]).toEqual([0, 0]);
      }),
      { numRuns: 60 },
    );
  });
});

test('an execution that runs out of time frees its place at once and is told to stop', async () => {
  const limiter = new Limiter(1);
  let told: unknown;
  const slow = limiter.run(
    (signal) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          told = (signal.reason as Error).name;
        });
      }),
    { timeoutMs: 5 },
  );
  await expect(slow).rejects.toThrow('timed out after 5 ms');
  expect(told).toBe('TimeoutError');
  expect(limiter.currentCount).toBe(0);
  await expect(limiter.run(() => 'next')).resolves.toBe('next');
});

test('with holdUntilEnded the caller goes on at once, and the place is free when the task has died', async () => {
  const limiter = new Limiter(1);
  let die = () => {};
  const dying = limiter.run(() => new Promise<void>((resolve) => (die = resolve)), {
    timeoutMs: 1,
    holdUntilEnded: true,
  });
  await expect(dying).rejects.toThrow('timed out after 1 ms');
  const next = limiter.run(() => 'next');
  await turn();
  expect([limiter.currentCount, limiter.waitingCount]).toEqual([1, 1]);
  die();
  await expect(next).resolves.toBe('next');
  expect(limiter.currentCount).toBe(0);
});

test('who was aborted before asking never runs', async () => {
  const limiter = new Limiter(1);
  const ran: string[] = [];
  await expect(limiter.run(() => ran.push('x'), { signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow(
    'gone',
  );
  expect([ran, limiter.currentCount]).toEqual([[], 0]);
});

test.each(Array.from({ length: 12 }, (_, ticks) => ticks))(
  'who gives up %i microtasks after a place came free is rejected, and the place is free again',
  async (ticks) => {
    const limiter = new Limiter(1);
    const abort = new AbortController();
    let end = () => {};
    const first = limiter.run(() => new Promise<void>((resolve) => (end = resolve)));
    const second = limiter.run(() => new Promise(() => {}), { signal: abort.signal });
    const refused = expect(second).rejects.toThrow('gone');
    await turn();
    end();
    for (let tick = 0; tick < ticks; tick++) await null;
    abort.abort(new Error('gone'));
    await Promise.all([first, refused]);
    expect([limiter.currentCount, limiter.waitingCount]).toEqual([0, 0]);
  },
);

test('a task that throws before its first await is a rejection, not a crash', async () => {
  const limiter = new Limiter(1);
  const thrower = () => {
    throw new Error('early');
  };
  await expect(limiter.run(thrower)).rejects.toThrow('early');
  expect(limiter.currentCount).toBe(0);
});

test('the count is back the moment that the caller goes on', async () => {
  const limiter = new Limiter(2);
  await limiter.run(() => turn());
  expect(limiter.currentCount).toBe(0);
});

// verl's rotten execution: one of twenty raises; here its caller gets the error itself, not a silent None.
test('one of twenty executions raises: the others give their results and the count is back to 0 (test_rotten_execution)', async () => {
  const limiter = new Limiter(6);
  const settled = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      limiter.run(async () => {
        await turn();
        if (index === 10) throw new Error('rotten');
        return index;
      }),
    ),
  );
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message))).toEqual(
    Array.from({ length: 20 }, (_, index) => (index === 10 ? 'rotten' : index)),
  );
  expect(limiter.currentCount).toBe(0);
});

test('a name is one limiter for the whole process, and a different wish is reported (test_basic_multi_process_init)', () => {
  const told: string[] = [];
  const first = limiterNamed('test-rate-limiter', 3);
  expect(limiterNamed('test-rate-limiter', 3)).toBe(first);
  expect(limiterNamed('test-rate-limiter', 5, (message) => told.push(message))).toBe(first);
  expect(first.rateLimit).toBe(3);
  expect(told).toEqual(['rate limit "test-rate-limiter" is already 3 for this process; the wish for 5 is ignored']);
  expect(limiterNamed('another').rateLimit).toBe(10);
});

test.each([0, -1, 1.5, Number.NaN])('a rate limit of %d is refused by its value', (limit) => {
  expect(() => new Limiter(limit)).toThrow(`rate_limit: expected a whole number of 1 or more, got ${limit}`);
});

describe('mapOrdered', () => {
  test('results come in the order of the items, whatever the order of the ends', async () => {
    let flying = 0;
    let most = 0;
    const results = await mapOrdered(
      [5, 1, 4, 2, 3],
      async (turns) => {
        most = Math.max(most, ++flying);
        for (let one = 0; one < turns; one++) await turn();
        flying--;
        return turns * 10;
      },
      { concurrency: 2 },
    );
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  test('the first failure aborts what runs and starts nothing more', async () => {
    const started: number[] = [];
    const aborted: number[] = [];
    const all = mapOrdered(
      [0, 1, 2, 3],
      async (item, signal) => {
        started.push(item);
        if (item === 1) throw new Error('no');
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            aborted.push(item);
            reject(signal.reason);
          });
        });
      },
      { concurrency: 2 },
    );
    await expect(all).rejects.toThrow('no');
    expect([started, aborted]).toEqual([[0, 1], [0]]);
  });

  test('nothing to do is done', async () => {
    await expect(mapOrdered([], async () => 1)).resolves.toEqual([]);
  });
});
