import { describe, expect, test } from 'vitest';
import type { Stretch } from '../../../src/core/rollout/times.ts';
import { timeBar } from '../../../src/viewer/present/time-bar.ts';

const bar = (stretches: readonly Stretch[], wall: number, width: number): string =>
  timeBar(stretches, wall, width)
    .map(([, text]) => text)
    .join('');

describe('a bar of time', () => {
  test('has in each cell what takes most of it', () => {
    expect(
      bar(
        [
          { kind: 'model', start: 0, end: 6 },
          { kind: 'tool', start: 6, end: 10 },
        ],
        10,
        5,
      ),
    ).toBe('███▒▒');
  });

  test('shows what is shorter than a cell, too', () => {
    const short: Stretch[] = [
      { kind: null, start: 0, end: 7 },
      { kind: 'model', start: 7, end: 7.5 },
      { kind: null, start: 7.5, end: 100 },
    ];
    expect(bar(short, 100, 10)).toBe('█         ');
  });

  test('has the given width, and is empty if nothing lasted', () => {
    expect(bar([{ kind: null, start: 0, end: 3 }], 3, 7)).toBe(' '.repeat(7));
    expect(bar([], 0, 7)).toBe('');
    expect(bar([{ kind: 'model', start: 3, end: 3 }], 3, 4)).toBe('   █');
  });
});
