import { lastItem, numberInAt } from '../../core/lists/at.ts';
import type { Facts } from '../../core/rollout/fact-row.ts';
import { TIME_KINDS } from '../../core/rollout/times.ts';
import { plural } from '../../core/text/numbers.ts';
import { secondsText } from '../../core/text/quantities.ts';
import { type ClockRow, type StepClock, stepClock, waitedOf } from '../step-clock.ts';
import { column } from './columns.ts';
import type { Report, ReportColumn } from './report.ts';

/** The rollouts of one step whose times are known, and how many have none. */
export interface StepTimes {
  rows: readonly ClockRow[];
  /** The step on one clock; null if a rollout has no start. */
  clock: StepClock | null;
  /** Rollouts that are read and have no times. */
  unknown: number;
  /** Rollouts that are not read yet. */
  unread: number;
}

/** @param rollouts of the step; facts are undefined until a rollout is read */
export function stepTimes(rollouts: Iterable<{ record: number; facts: Facts | undefined }>): StepTimes {
  const rows: ClockRow[] = [];
  let unknown = 0;
  let unread = 0;
  for (const { record, facts } of rollouts) {
    const row = facts === undefined ? null : clockRow(facts, record);
    if (facts === undefined) unread++;
    else if (row === null) unknown++;
    else rows.push(row);
  }
  return { rows, clock: stepClock(rows), unknown, unread };
}

/** The moment at which a rollout starts, in seconds on the clock of its step; 0 if they share none. */
export const startOnClock = ({ start }: ClockRow, clock: StepClock | null): number =>
  clock === null || start === null ? 0 : start - clock.first;

/** The seconds that a picture of the step spans. */
export const stepSeconds = ({ rows, clock }: StepTimes): number =>
  clock?.seconds ?? rows.reduce((longest, { wall }) => Math.max(longest, wall), 0);

/** The time of a step: a row for each rollout, the last end first. */
export function stepTimesReport(name: string, times: StepTimes): Report<ClockRow> {
  const { rows, clock, unknown, unread } = times;
  const endOf = (row: ClockRow): number => startOnClock(row, clock) + row.wall;
  const whole = stepSeconds(times);
  const recorded = (kind: 'model' | 'tool' | 'queue' | 'score', meaning: string): ReportColumn<ClockRow> => ({
    ...{ key: kind, title: kind, type: 'seconds', meaning },
    value: ({ by }) => by[kind] ?? null,
  });
  return {
    title: `the time of ${name}`,
    columns: [
      {
        ...{ key: 'sample', title: 'sample', type: 'count', width: 7, identifies: true },
        meaning: 'number of the rollout in its file, from 1',
        value: ({ record }) => record + 1,
      },
      {
        ...{ key: 'end', title: clock === null ? 'took' : 'end', type: 'seconds' },
        meaning: clock === null ? 'its length' : 'its end, from the start of the step',
        value: endOf,
      },
      {
        ...{ key: 'share', title: clock === null ? 'from its own start' : 'on the clock', type: 'bar' },
        meaning: 'its end as a share of the step’s time',
        value: (row) => (whole > 0 ? endOf(row) / whole : null),
      },
      column('waited', 'waited', 'seconds', 'in a queue, or unexplained', waitedOf),
      recorded('model', 'the model generated'),
      recorded('tool', 'tools ran'),
      recorded('queue', 'it waited for a place'),
      recorded('score', 'its reward was computed'),
    ],
    rows: [...rows].sort((a, b) => endOf(b) - endOf(a)),
    notes: rows.length === 0 ? [] : clock === null ? [lengthsText(rows)] : clockLines(clock, rows),
    empty:
      unread > 0
        ? 'not known yet: they are being read'
        : unknown > 0
          ? 'no times are known of these rollouts'
          : 'no rollouts',
  };
}

/** `3 rollouts, 2 are not read yet`. */
export const stepTimesCount = ({ rows, unread, unknown }: StepTimes): string =>
  [
    plural(rows.length, 'rollout'),
    ...(unread === 0 ? [] : [`${unread} are not read yet`]),
    ...(unknown === 0 ? [] : [`${unknown} have no known times`]),
  ].join(', ');

const KINDS = [...TIME_KINDS, 'blank'] as const;

function clockRow(facts: Facts, record: number): ClockRow | null {
  const wall = facts.value('time.wall');
  if (typeof wall !== 'number') return null;
  const by: ClockRow['by'] = {};
  for (const kind of KINDS) {
    const seconds = facts.value(`time.${kind}`);
    if (typeof seconds === 'number') by[kind] = seconds;
  }
  const start = facts.value('time.start');
  return { record, start: typeof start === 'number' ? start : null, wall, by };
}

function clockLines({ seconds, tail, straggler }: StepClock, rows: readonly ClockRow[]): string[] {
  const { kind, took, record } = straggler;
  const share = `${Math.round(100 * tail.share)} %`;
  const hung = `for ${secondsText(tail.seconds)} (${share}) it hung on the last ${tail.rollouts} of ${rows.length}`;
  const word = kind === 'blank' ? 'unexplained' : kind;
  const most = word === null || took === 0 ? '' : `, ${secondsText(took)} of its time ${word}`;
  return [
    `took ${secondsText(seconds)}${rows.length === 1 ? '' : `; ${hung}`}`,
    `sample ${record + 1} ended last${most}`,
  ];
}

function lengthsText(rows: readonly ClockRow[]): string {
  const walls = rows.map(({ wall }) => wall).sort((a, b) => a - b);
  const most = lastItem(walls);
  const most95 = numberInAt(walls, Math.max(0, Math.ceil(walls.length * 0.95) - 1));
  const started = rows.filter(({ start }) => start !== null).length;
  const starts = started === 0 ? 'no starts are recorded' : `starts are recorded of ${started} of ${rows.length}`;
  return `the slowest took ${secondsText(most)}, 95 % of them ${secondsText(most95)} or less; ${starts}`;
}
