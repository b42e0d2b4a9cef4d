import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClockRow, stepClock, waitedOf } from '../../src/analysis/step-clock.ts';

const row = (record: number, start: number | null, wall: number, by: ClockRow['by'] = {}): ClockRow => ({
  record,
  start,
  wall,
  by,
});

describe('a step on one clock', () => {
  it('lasts from the first start to the last end; the last one and what took its time are named', () => {
    const rows = [row(0, 100, 10), row(1, 105, 20, { model: 5, tool: 12, blank: 3 }), row(2, 101, 9, { model: 9 })];
    expect(stepClock(rows)).toEqual({
      first: 100,
      seconds: 25,
      tail: { seconds: 15, share: 0.6, rollouts: 1 },
      straggler: { record: 1, kind: 'tool', took: 12 },
    });
  });

  it('does not exist if a start is missing: durations alone are on no clock', () => {
    expect(stepClock([row(0, 100, 10), row(1, null, 20)])).toBeNull();
    expect(stepClock([])).toBeNull();
  });

  it('hangs on its last twentieth as long as those go on when all others are done', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(1000), fc.nat(1000)), { minLength: 1, maxLength: 60 }), (pairs) => {
        const rows = pairs.map(([start, wall], at) => row(at, start, wall));
        const { first, seconds, tail } = stepClock(rows)!;
        const running = (moment: number) => rows.filter(({ start, wall }) => start! + wall > moment).length;
        expect(running(first + seconds)).toBe(0);
        // Before the tail more than those were running, or nobody had begun; in it they alone.
        expect(running(first + seconds - tail.seconds)).toBeLessThanOrEqual(tail.rollouts);
        expect(tail.seconds).toBeLessThanOrEqual(seconds);
      }),
    );
  });

  it('waiting is the queue and what nothing explains; unknown where neither is recorded', () => {
    expect(waitedOf(row(0, 0, 10, { queue: 2, blank: 1 }))).toBe(3);
    expect(waitedOf(row(0, 0, 10, { model: 4 }))).toBeNull();
  });
});
