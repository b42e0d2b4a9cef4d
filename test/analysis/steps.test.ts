import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArrivalRate } from '../../src/analysis/arrival-rate.ts';
import { parseCondition } from '../../src/analysis/condition.ts';
import { Groups } from '../../src/analysis/groups.ts';
import { StepSums } from '../../src/analysis/step-stats.ts';
import { usualInterval } from '../../src/analysis/usual-interval.ts';
import { LineIndex } from '../../src/core/dump/line-index.ts';
import { ENDS } from '../../src/core/rollout/ended.ts';
import { FACT_ROW } from '../../src/core/rollout/fact-row.ts';
import { factAt } from '../../src/core/rollout/facts.ts';
import { NO_GROUP } from '../../src/core/rollout/group-key.ts';

const MINUTE = 60_000;

describe('the rate of arrivals', () => {
  test('is given over at least a minute, and over five', () => {
    const rate = new ArrivalRate(0);
    expect(rate.perMinute(1000, null)).toBeNull();
    rate.add(10, 1000);
    expect(rate.perMinute(2000, null)).toBe(10);
    expect(rate.perMinute(2 * MINUTE, null)).toBe(5);
    expect(rate.perMinute(10 * MINUTE, null)).toBeNull();
  });

  test('spans three intervals where steps are written in one go, an hour at the most', () => {
    const rate = new ArrivalRate(0);
    rate.add(60, MINUTE);
    expect(rate.perMinute(20 * MINUTE, 10 * MINUTE)).toBe(3);
    expect(rate.perMinute(40 * MINUTE, 10 * MINUTE)).toBeNull();
    const slow = new ArrivalRate(0);
    slow.add(60, MINUTE);
    expect(slow.perMinute(60 * MINUTE, 40 * MINUTE)).toBe(1);
    expect(slow.perMinute(62 * MINUTE, 40 * MINUTE)).toBeNull();
  });
});

describe('the usual interval of a step', () => {
  const interval = (...minutes: number[]) => usualInterval(minutes.map((at) => ({ lastChange: at * MINUTE })) as never);

  test('is the median of the gaps; one pause does not change it', () => {
    expect(interval(0, 10, 20, 30)).toBe(10 * MINUTE);
    expect(interval(0, 10, 20, 500, 510)).toBe(10 * MINUTE);
  });

  test('is not given by two steps, by copied files, or if more than a third go backwards', () => {
    expect(interval(0, 10)).toBeNull();
    expect(interval(0, 0.001, 0.002, 0.003)).toBeNull();
    expect(interval(0, 10, 5, 15, 8)).toBeNull();
    expect(interval(0, 10, 20, 5, 15)).toBe(10 * MINUTE);
  });
});

describe('a step', () => {
  const index = new LineIndex();
  const row = (errors: number, ended: (typeof ENDS)[number], score: number) => {
    const facts = new Float64Array(FACT_ROW);
    facts[factAt('tool_errors')] = errors;
    facts[factAt('ended')] = ENDS.indexOf(ended);
    facts[FACT_ROW - 2] = 2 ** 31;
    return { row: facts, score, group: NO_GROUP, cells: new Map() };
  };
  for (const score of [1, 0.5, Number.NaN, null, undefined]) index.add(0, 10, score, 7);
  index.setFacts(0, row(2, 'stop', 1));
  index.setFacts(1, row(0, 'length', 0.5));
  index.setFacts(2, row(Number.NaN, 'mid_word', Number.NaN));
  const file = { index, count: 5, step: null, stepOf: () => 7, generation: 0, lastChange: 0 };

  test('has the mean of its finite scores; shares are over what was looked at', () => {
    expect(new StepSums().of(file as never)).toEqual({
      step: 7,
      rollouts: 5,
      mean: 0.75,
      notFinite: 1,
      unscored: 2,
      looked: 3,
      observed: 2,
      toolErrors: 1,
      truncated: 2,
    });
  });

  test('is summed up again when it has changed, and only then', () => {
    const sums = new StepSums();
    const first = sums.of(file as never);
    expect(sums.of(file as never)).toBe(first);
    expect(sums.of(Object.assign(file, { lastChange: 1 }) as never)).not.toBe(first);
  });
});

test('a step that grows, and whose last line changes, is summed up as if it had been read at once', () => {
  const score = fc.oneof(
    fc.integer({ min: 0, max: 4 }).map((value) => value / 4),
    fc.constantFrom(Number.NaN, null, undefined),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ scores: fc.array(score), changesLast: fc.boolean() })), (parts) => {
      const sums = new StepSums();
      const index = new LineIndex();
      let all: (number | null | undefined)[] = [];
      for (const [lastChange, { scores, changesLast }] of parts.entries()) {
        if (changesLast && all.length > 0) {
          index.truncate(all.length - 1);
          all = all.slice(0, -1);
        }
        for (const one of scores) index.add(0, 10, one, 7);
        all.push(...scores);
        const file = { index, count: all.length, step: 7, generation: 0, lastChange };
        const whole = new LineIndex();
        for (const one of all) whole.add(0, 10, one, 7);
        expect(sums.of(file as never)).toEqual(new StepSums().of({ ...file, index: whole } as never));
      }
    }),
  );
});

describe('a condition on a step', () => {
  const stats = {
    step: 1,
    rollouts: 4,
    mean: 0.0996,
    notFinite: 0,
    unscored: 0,
    looked: 4,
    observed: 0,
    toolErrors: 0,
    truncated: 1,
  };
  const judge = (text: string, more = {}) => parseCondition(text).judge({ ...stats, ...more });

  test('says what is true of it, in as few digits as that takes', () => {
    expect(judge('score < 0.1')).toBe('score 0.0996 < 0.1');
    expect(judge('score < 0.2')).toBe('score 0.10 < 0.2');
    expect(judge('truncation_rate >= 0.25 && score < 1')).toBe(
      'truncation_rate 0.25, score 0.10: truncation_rate >= 0.25 && score < 1',
    );
  });

  test('does not hold of what nobody knows', () => {
    expect(judge('tool_error_rate < 0.5')).toBeNull();
    expect(judge('tool_error_rate < 0.5', { observed: 2 })).toBe('tool_error_rate 0.00 < 0.5');
    expect(judge('score < 1', { mean: null })).toBeNull();
    expect(judge('truncation_rate < 1', { looked: 0 })).toBeNull();
  });
});

describe('groups', () => {
  const key = (from: 'uid' | 'prompt', name: string, prompt = name) => ({ from, key: name, prompt, uid: null });

  test('are never by adjacency, and a bad record has none', () => {
    const groups = new Groups([key('prompt', 'a'), key('prompt', 'b'), null, key('prompt', 'a')], () => 1);
    expect([groups.membersOf(0), groups.membersOf(1), groups.membersOf(2), groups.reasonOf(0)]).toEqual([
      [0, 3],
      [1],
      [],
      null,
    ]);
  });

  test('by prompts that are all alike do not count; those by uid do', () => {
    const alike = [key('prompt', 'a'), key('prompt', 'a'), key('uid', 'u', 'a')];
    const groups = new Groups(alike, () => 1);
    expect(groups.reasonOf(0)).toContain('all prompts of its step are equal');
    expect([groups.membersOf(0), groups.membersOf(2)]).toEqual([[], [2]]);
    expect(new Groups([key('prompt', 'a')], () => 1).keyOf(0)).toBe('a');
  });
});
