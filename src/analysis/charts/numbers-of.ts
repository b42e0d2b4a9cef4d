import type { FactRows } from '../facts/fact-rows.ts';
import { bucketsOf, type NumberSpread, numberSpread } from './buckets.ts';

/** How a number lies in each step of each stream, in their order. What is told of no step is in no chart. */
export interface StepOfNumber {
  stream: string;
  step: number | null;
  spread: NumberSpread;
}

/** Made once of the same rows, however often it is drawn. */
const known = new WeakMap<FactRows, { buckets: ReturnType<typeof bucketsOf>; numbers: Map<string, StepOfNumber[]> }>();

export function stepsOfNumber(rows: FactRows, name: string): readonly StepOfNumber[] {
  let kept = known.get(rows);
  if (kept === undefined) {
    kept = { buckets: bucketsOf(rows, 'step'), numbers: new Map() };
    known.set(rows, kept);
  }
  let steps = kept.numbers.get(name);
  if (steps === undefined) {
    const values = rows.numbers(name);
    steps = kept.buckets.map(({ stream, value, members }) => ({
      stream,
      step: typeof value === 'number' ? value : null,
      spread: numberSpread(values, members),
    }));
    kept.numbers.set(name, steps);
  }
  return steps;
}

/** The means by step of the stream that has the most steps: what a chart draws. */
export function chartOf(steps: readonly StepOfNumber[]): { stream: string; points: { x: number; y: number }[] } {
  const streams = new Map<string, { x: number; y: number }[]>();
  for (const { stream, step, spread } of steps) {
    if (step === null || spread.mean === null) continue;
    streams.set(stream, [...(streams.get(stream) ?? []), { x: step, y: spread.mean }]);
  }
  const [first] = [...streams].sort(([, a], [, b]) => b.length - a.length);
  return { stream: first?.[0] ?? '', points: first?.[1] ?? [] };
}
