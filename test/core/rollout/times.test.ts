import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLine } from '../../../src/core/dump/parse-line.ts';
import { stretchesOf, TIME_KINDS, type TimeSpan, timeByKind, timesOf } from '../../../src/core/rollout/times.ts';

const span = (kind: TimeSpan['kind'], start: number, end: number): TimeSpan => ({ kind, start, end, turn: null });

describe('times', () => {
  it('calls side by side count once, and what nothing explains is blank', () => {
    const times = timesOf(null, 10, [
      span('model', 0, 4),
      span('tool', 4, 6),
      span('tool', 5, 7),
      span('queue', 3, 5),
    ])!;
    expect(timeByKind(times)).toEqual({ model: 4, tool: 3, queue: 0, score: 0, setup: 0, blank: 3 });
    expect(stretchesOf(times).map(({ kind, start, end }) => [kind, start, end])).toEqual([
      ['model', 0, 4],
      ['tool', 4, 7],
      [null, 7, 10],
    ]);
  });

  it('what runs backwards, or reaches beyond the whole, is left out, with a note', () => {
    const times = timesOf(null, 10, [span('model', 0, 4), span('tool', 6, 5), span('tool', 4000, 6000)])!;
    expect(times.spans).toHaveLength(1);
    expect(times.doubt).toBe(
      '1 times run backwards; 1 are longer than the whole (10 s): another unit, or another clock; left out',
    );
    expect(timesOf(null, 10, [span('model', -3, 4), span('tool', 4, 5)])!.doubt).toBe(
      '1 begin before the rollout does: another clock; left out',
    );
    expect(timesOf(null, 10, [span('model', 0, 4)])!.doubt).toBeNull();
    expect(timesOf(null, 2, [], { model: 1500, tool: 0.5 })).toMatchObject({ durations: { tool: 0.5 } });
  });

  it('kinds and blank sum to the wall time, as a count of moments says', () => {
    const kind = fc.constantFrom(...TIME_KINDS);
    const place = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(kind, place, place), { maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (raw, wall) => {
          const spans = raw.map(([one, a, b]) => span(one, Math.min(a, b), Math.max(a, b)));
          const times = timesOf(null, wall, spans)!;
          const sums = timeByKind(times);
          expect(Object.values(sums).reduce((all, seconds) => all + seconds, 0)).toBeCloseTo(wall);
          const order = ['model', 'tool', 'score', 'setup', 'queue'] as const;
          const counts: Record<string, number> = { model: 0, tool: 0, queue: 0, score: 0, setup: 0, blank: 0 };
          for (let second = 0; second < wall; second++) {
            const here = times.spans
              .filter(({ start, end }) => start <= second && end >= second + 1)
              .map((one) => one.kind);
            counts[order.find((one) => here.includes(one)) ?? 'blank']!++;
          }
          for (const [name, seconds] of Object.entries(counts)) expect(sums[name as 'blank']).toBeCloseTo(seconds);
        },
      ),
    );
  });
});

describe('recorded times', () => {
  const read = (record: object) => parseLine(JSON.stringify(record), { validation: false }).rollout!;

  it('of a trace: dispatch, boot, requests of the model, scoring', () => {
    const rollout = read({
      nodes: [
        { message: { role: 'user', content: 'q' }, sampled: false },
        { parent: 0, message: { role: 'assistant', content: 'a' }, sampled: true },
      ],
      rewards: {},
      timing: {
        start: 1000,
        boot: { start: 1000, end: 1001 },
        agent: { start: 1001, end: 1004 },
        scoring: { start: 1004, end: 1004.5 },
      },
      calls: [{ node: 1, time: { start: 1001, end: 1003 } }],
      info: { dispatch: { time: 998 } },
      episode: { run: { type: 'train', work: { step: 12, policy: { start: 9, end: 11 } } } },
    });
    expect(timeByKind(rollout.times!)).toEqual({ model: 2, tool: 0, queue: 2, score: 0.5, setup: 1, blank: 1 });
    expect(rollout.times!.spans.find(({ kind }) => kind === 'model')!.turn).toBe(1);
    expect(rollout.policy).toEqual({ first: 9, last: 11, trainedAt: 12 });
  });

  it('of verl: sums without a clock; a number of tool calls is no time', () => {
    const line = { input: 'user\nq\nassistant\n', output: 'a' };
    expect(timeByKind(read({ ...line, metrics: { generate_sequences: 3, tool_calls: 1 } }).times!)).toMatchObject({
      model: 3,
      tool: 1,
      blank: 0,
    });
    expect(read({ ...line, tool_calls: 3 }).times).toBeUndefined();
  });

  it('of a session: clock times alone are blank, recorded durations are tools', () => {
    const event = (type: string, timestamp: string, more: object = {}) => ({
      type,
      sessionId: 's',
      uuid: timestamp,
      timestamp,
      message: { role: type, content: 'x' },
      ...more,
    });
    const { times } = read({
      session_of: 'claude-code',
      events: [
        event('user', '2026-01-01T00:00:00.000Z'),
        event('assistant', '2026-01-01T00:00:04.500Z'),
        event('user', '2026-01-01T00:00:10.000Z', { toolUseResult: { durationMs: 2000 } }),
      ],
    });
    expect(timeByKind(times!)).toEqual({ model: 0, tool: 2, queue: 0, score: 0, setup: 0, blank: 8 });
  });

  it('versions of the weights by span; a step that does not count them has no age', () => {
    const { policy } = read({
      input: '',
      output: 'a',
      weight_versions: [
        { start: 0, end: 2, version: '4' },
        { start: 2, end: 3, version: '3' },
      ],
    });
    expect(policy).toEqual({ first: 3, last: 4, trainedAt: null });
  });
});
