import { describe, expect, test } from 'vitest';
import type { RunStats } from '../../../src/analysis/live-run.ts';
import type { StepStats } from '../../../src/analysis/step-stats.ts';
import { cellWidth } from '../../../src/core/text/graphemes.ts';
import { ageText, durationText, untilOlder } from '../../../src/viewer/present/age.ts';
import { renderEdges } from '../../../src/viewer/present/line.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { type TopLine, topLine } from '../../../src/viewer/present/top-line.ts';

const step = (mean: number | null): StepStats => ({
  step: 1,
  rollouts: 128,
  mean,
  notFinite: 0,
  unscored: 0,
  looked: 128,
  observed: 128,
  toolErrors: 0,
  truncated: 0,
});

const run: RunStats = {
  status: 'live',
  age: 4200,
  validation: false,
  steps: 128,
  files: 0,
  rollouts: 16384,
  last: [0.1, 0.15, 0.2, 0.25, 0.3, 0.3, null, 0.35, 0.41].map(step),
  notFinite: 3,
  unscored: 0,
  failed: 0,
  toolErrorRate: 0.12,
  truncationRate: 0.04,
  perMinute: 12.3,
};

function text(width: number, over: Partial<RunStats> = {}, line: Partial<TopLine> = {}): string {
  const { left, right } = topLine(
    {
      name: 'rollout_data',
      run: { ...run, ...over },
      follow: 'off',
      progress: null,
      sandbox: null,
      isReading: false,
      ...line,
    },
    width,
  );
  return renderEdges(MONO, left, right, width).replace(/\x1b\[[\d;]*m/g, '');
}

describe('the first line', () => {
  test('has all that a person wants to see from afar where there is room', () => {
    expect(text(165).replace(/ {3,}/, ' … ')).toBe(
      ' rollout_data  ● live  128 steps · 16,384 rollouts  score 0.41 ▁▂▃▄▆▆ ▇█ 0.10 to 0.41  3 NaN  12 % had tool errors  cut off ≥ 4 % … 12/min  4 s ago ',
    );
  });

  test('shows the workers of a followed run', () => {
    const queue = { workers: 4, active: 64, waiting: 1200, failed: 0, perMinute: 840, isAway: false };
    expect(text(150, {}, { queue })).toContain('● live  4 workers · 64 in flight · 1,200 waiting · 840/min');
    expect(text(150, {}, { queue: { ...queue, failed: 2 } })).toContain('840/min · 2 given up');
    expect(text(150, {}, { queue: { ...queue, workers: 0 } })).toContain('● live  no worker, 1,200 waiting');
    expect(text(80, {}, { queue: { ...queue, isAway: true } })).toContain('● live  the Redis is away');
  });

  test('lets parts go whole, the least important first', () => {
    expect(text(80, { steps: 0, files: 128 })).toContain('  128 files · 16,384 rollouts');
    expect(text(80, { steps: 3, files: 2 })).toContain('  3 steps + 2 files · 16,384 rollouts');
    expect(text(80)).toBe(' rollout_data  ● live  128 steps · 16,384 rollouts  score 0.41 ▃▄▆▆ ▇█  4 s ago ');
    expect(text(60).trimEnd()).toBe(' rollout_data  ● live  128 steps  score 0.41        4 s ago');
    expect(text(40).trimEnd()).toBe(' rollout_data  ● live           4 s ago');
  });

  test('says how many rollouts have no line, and how many no score', () => {
    expect(text(150, { failed: 2, unscored: 14 })).toContain('  2 failed');
    expect(text(150, { failed: 2, unscored: 14 })).toContain('  14 unscored');
    expect(text(80, { failed: 2 })).toContain('  2 failed');
  });

  test('never breaks a part, whatever the width', () => {
    const parts =
      /^ (\S+)( {2}● live)?( {2}following)?( {2}128 steps)?( · 16,384 rollouts)?( {2}score 0\.41)?( [▁-█ ]+?)?( 0\.10 to 0\.41)?( {2}3 NaN)?( {2}12 % had tool errors)?( {2}cut off ≥ 4 %)? *(12\/min)?( *4 s ago)?( *indexing [▓░]{8} 82 %)? *$/;
    for (let width = 20; width < 260; width++) {
      const line = text(width, {}, { follow: 'on', progress: { text: 'indexing', share: 0.82 } });
      expect(cellWidth(line)).toBeLessThanOrEqual(width);
      expect(line).toMatch(parts);
    }
  });

  test('says that nothing comes, and leaves out what is not known', () => {
    expect(text(100, { status: 'quiet', age: 42 * 60_000 })).toContain('quiet 42 min');
    expect(text(100, { status: 'quiet', age: 42 * 60_000 })).not.toContain('ago');
    expect(text(100, { status: 'past', age: 3 * 86_400_000, perMinute: null }).trimEnd()).toMatch(/ 3 d ago$/);
    expect(text(100, { status: 'waiting', age: null, steps: 0, rollouts: 0, last: [], perMinute: null })).toContain(
      'nothing there yet',
    );
    expect(text(100, { status: 'away' })).toContain('gone from disk');
    expect(text(100, { status: 'ended' })).toContain('the stream has ended');
    const bare = text(200, { last: [step(null)], notFinite: 0, toolErrorRate: null, truncationRate: null });
    expect(bare).not.toMatch(/score|NaN|tool|cut/);
    expect(text(200, { truncationRate: 0 })).not.toContain('cut off');
  });

  test('following, and following that waits', () => {
    expect(text(80, {}, { follow: 'on' })).toContain('  following  ');
    expect(text(80, {}, { follow: 'paused' })).toContain('  follow paused  ');
    expect(text(80)).not.toContain('follow');
  });

  test('does not say how far work is that nobody can measure', () => {
    const line = text(100, {}, { progress: { text: 'indexing', share: null } });
    expect(line.trimEnd()).toMatch(/indexing …$/);
  });

  test('a small mean is not shown as zero', () => {
    expect(text(100, { last: [step(0.0034)] })).toContain('score 0.0034');
    expect(text(100, { last: [step(-6.584)] })).toContain('score -6.58');
  });
});

describe('ages', () => {
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
  test.each([
    [0, '0 s', second],
    [59_999, '59 s', 1],
    [60_000, '1 min', minute],
    [42.5 * minute, '42 min', minute / 2],
    [hour, '1 h', hour],
    [day, '1 d', null],
    [30 * day, '30 d', null],
  ])('%i ms', (age, expected, until) => {
    expect(durationText(age)).toBe(expected);
    expect(untilOlder(age)).toBe(until);
  });

  test('long ago it is the day', () => {
    const now = Date.UTC(2026, 7, 1);
    expect(ageText(3 * day, now)).toBe('3 d ago');
    expect(ageText(now, now)).toBe('1970-01-01');
  });
});
