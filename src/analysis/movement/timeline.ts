import { float64At } from '../../core/lists/at.ts';
import type { FactRows } from '../facts/fact-rows.ts';

type TrainingFacts = Pick<FactRows, 'length' | 'words' | 'place'>;

/** Several parts of one answer ask for the same. */
const trainingRows = new WeakMap<TrainingFacts, Uint32Array>();
const timelines = new WeakMap<Uint32Array, { facts: object; timeline: Timeline }>();

/** The rows of the stream that was trained on; if there are several, of the one with the most rows. */
export function rowsOfTraining(facts: TrainingFacts): Uint32Array {
  const rows = trainingRows.get(facts) ?? findTraining(facts);
  trainingRows.set(facts, rows);
  return rows;
}

function findTraining(facts: TrainingFacts): Uint32Array {
  const streams = facts.words('stream');
  const counts = new Map<string, number>();
  const known = new Map<object, boolean>();
  const isTrained = (row: number): boolean => {
    const { file } = facts.place(row);
    const found = known.get(file) ?? !file.validation;
    known.set(file, found);
    return found;
  };
  const rows: number[] = [];
  for (let row = 0; row < facts.length; row++) if (isTrained(row)) rows.push(row);
  const candidates = rows.length > 0 ? rows : Array.from({ length: facts.length }, (_, row) => row);
  for (const row of candidates) counts.set(streams[row] ?? '', (counts.get(streams[row] ?? '') ?? 0) + 1);
  const [largest] = [...counts].sort(([, a], [, b]) => b - a)[0] ?? [''];
  return Uint32Array.from(candidates.filter((row) => (streams[row] ?? '') === largest));
}

/** The time of each row: the rank of its step, or without any steps the rank of its file. -1: unknown. */
interface Timeline {
  /** The step at each place; without steps, the number of the file from 1. */
  steps: readonly number[];
  /** The place of each row of the dump, -1 if it has none. */
  at: Int32Array;
}

/** Steps may have gaps or be written twice, so only their order counts. */
export function timelineOf(facts: TimedFacts, rows: Uint32Array): Timeline {
  const known = timelines.get(rows);
  if (known?.facts === facts) return known.timeline;
  const timeline = layTimeline(facts, rows);
  timelines.set(rows, { facts, timeline });
  return timeline;
}

type TimedFacts = Pick<FactRows, 'length' | 'numbers' | 'place'>;

function layTimeline(facts: TimedFacts, rows: Uint32Array): Timeline {
  const own = facts.numbers('step');
  const hasSteps = rows.some((row) => !Number.isNaN(own[row]));
  const files = new Map<object, number>();
  const timeOf = (row: number): number => {
    if (hasSteps) return float64At(own, row);
    const { file } = facts.place(row);
    if (!files.has(file)) files.set(file, files.size + 1);
    return files.get(file)!;
  };
  const times = Float64Array.from(rows, timeOf);
  const steps = [...new Set(times)].filter((time) => !Number.isNaN(time)).sort((a, b) => a - b);
  const places = new Map(steps.map((step, at) => [step, at]));
  const at = new Int32Array(facts.length).fill(-1);
  for (const [i, row] of rows.entries()) at[row] = places.get(float64At(times, i)) ?? -1;
  return { steps, at };
}
