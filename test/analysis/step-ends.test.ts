import { describe, expect, test } from 'vitest';
import { StepEnds } from '../../src/analysis/step-ends.ts';
import { type DumpFile, QUIET } from '../../src/core/dump/dump-file.ts';

const NOW = 1_000_000_000;
const fileOf = (count: number, age: number): DumpFile =>
  ({
    state: 'ready',
    count,
    lastChange: NOW - age,
    isArriving: (now: number) => now - (NOW - age) < QUIET,
  }) as unknown as DumpFile;

describe('a step is complete', () => {
  const old = [fileOf(64, 400_000), fileOf(64, 200_000)];
  const isComplete = (steps: readonly DumpFile[], ends = new StepEnds()) => ends.isComplete(steps.at(-1)!, steps, NOW);

  test('when it holds what the steps before it held, and no byte comes', () => {
    expect(isComplete([...old, fileOf(64, QUIET + 1)])).toBe(true);
    expect(isComplete([...old, fileOf(64, QUIET - 1)])).toBe(false);
  });

  test('not when its writer stalls', () => {
    expect(isComplete([...old, fileOf(21, QUIET + 1)])).toBe(false);
    expect(isComplete([...old, fileOf(21, 30_000)])).toBe(false);
    expect(isComplete([...old, fileOf(21, 61_000)])).toBe(true);
  });

  test('when the next one has begun', () => {
    const short = fileOf(21, QUIET + 1);
    const steps = [...old, short, fileOf(3, 0)];
    expect(new StepEnds().isComplete(short, steps, NOW)).toBe(true);
  });

  test('by a quiet far longer than its own gaps, without one before it', () => {
    const ends = new StepEnds();
    const first = fileOf(21, QUIET + 1);
    ends.note(first, true, NOW - QUIET - 4001);
    ends.note(first, false, NOW - QUIET - 1);
    expect(isComplete([first], ends)).toBe(false);
    expect(isComplete([fileOf(21, QUIET + 1)])).toBe(true);
  });
});
