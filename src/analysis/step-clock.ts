import { float64At } from '../core/lists/at.ts';
import { TIME_KINDS, type TimeKind } from '../core/rollout/times.ts';
import type { FactRows } from './facts/fact-rows.ts';

/** The time of one rollout of a step. */
export interface ClockRow {
  record: number;
  /** Seconds since 1970; null if only durations were recorded. */
  start: number | null;
  wall: number;
  /** Seconds by kind, as far as recorded. */
  by: Partial<Record<TimeKind | 'blank', number>>;
}

/** A step on one clock: from the first start to the last end. */
export interface StepClock {
  first: number;
  seconds: number;
  /** How long the step waited for its last rollouts alone, after all others were done. */
  tail: { seconds: number; share: number; rollouts: number };
  /** The rollout that ended last, and what took most of its time; null if nothing of that was recorded. */
  straggler: { record: number; kind: TimeKind | 'blank' | null; took: number };
}

/** The last rollouts of a step are these of it, and one at least. */
const TAIL = 0.05;

/** null if a rollout has no start: then they share no clock. */
export function stepClock(rows: readonly ClockRow[]): StepClock | null {
  const byEnd = rows
    .flatMap((row) => (row.start === null ? [] : [{ row, start: row.start, end: row.start + row.wall }]))
    .sort((a, b) => a.end - b.end);
  const last = byEnd.at(-1);
  if (last === undefined || byEnd.length < rows.length) return null;
  const first = byEnd.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const seconds = last.end - first;
  const tail = Math.max(1, Math.floor(rows.length * TAIL));
  const others = byEnd.at(-1 - tail)?.end ?? first;
  const [most] = [...TIME_KINDS, 'blank' as const]
    .flatMap((kind) => (last.row.by[kind] === undefined ? [] : [{ kind, took: last.row.by[kind] }]))
    .sort((a, b) => b.took - a.took);
  return {
    first,
    seconds,
    tail: { seconds: last.end - others, share: seconds > 0 ? (last.end - others) / seconds : 0, rollouts: tail },
    straggler: { record: last.row.record, kind: most?.kind ?? null, took: most?.took ?? 0 },
  };
}

/** The clock of some rows, `record` being the row; null unless all rows with a time have a start. */
export function clockOfRows(rows: FactRows, members: readonly number[]): StepClock | null {
  const [starts, walls] = [rows.numbers('time.start'), rows.numbers('time.wall')];
  const kinds = [...TIME_KINDS, 'blank' as const].map((kind) => ({ kind, seconds: rows.numbers(`time.${kind}`) }));
  const known = members.filter((row) => !Number.isNaN(walls[row]));
  return stepClock(
    known.map((row) => ({
      record: row,
      start: Number.isNaN(starts[row]) ? null : float64At(starts, row),
      wall: float64At(walls, row),
      by: Object.fromEntries(
        kinds.flatMap(({ kind, seconds }) => (Number.isNaN(seconds[row]) ? [] : [[kind, seconds[row]]])),
      ),
    })),
  );
}

/** Seconds that a rollout waited: for a place, or else unexplained. null if neither is known. */
export const waitedOf = ({ by: { queue, blank } }: ClockRow): number | null =>
  queue === undefined && blank === undefined ? null : (queue ?? 0) + (blank ?? 0);
