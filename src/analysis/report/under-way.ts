import type { FoundState } from '../../core/dump/live-reader.ts';
import type { Place } from '../../core/dump/place.ts';
import type { UnderWay } from '../../core/dump/under-way.ts';
import { plural } from '../../core/text/numbers.ts';
import { scoreText, secondsText } from '../../core/text/quantities.ts';
import { column, ownColumn, stepColumn } from './columns.ts';
import type { Report } from './report.ts';

/** A writer reports once a second. */
const SILENT_MS = 10_000;
const MISSED_MS = 3000;

/** An unfinished rollout, or one that ended while it was watched. */
export interface LiveRow extends UnderWay {
  /** When it ended, ms since 1970; null while it is unfinished. */
  ended: number | null;
  /** Its record in the dump, once that exists. */
  place: Place | null;
  /** The report of its writer; null if that no longer names it. */
  writer: Pick<FoundState, 'written' | 'isGone'> | null;
}

/** Unfinished rollouts: the stage of each, its progress, and how long it has been silent. */
export function underWayReport<Row extends LiveRow>(
  states: readonly FoundState[],
  rows: readonly Row[],
  now: number,
): Report<Row> {
  const total = countUnderWay(states);
  const listed = states.reduce((sum, { rollouts }) => sum + rollouts.length, 0);
  return {
    title: 'rollouts under way',
    columns: [
      {
        ...{ key: 'rollout', title: 'rollout', type: 'text', width: 9, identifies: true },
        meaning: 'task and number, from 1',
        value: ({ task }) => task,
      },
      stepColumn,
      column('stage', 'stage', 'text', 'stage that it is in; its score once it is finished', stageText, { width: 14 }),
      column('tools', 'tool', 'text', 'tools that run', ({ tools }) => tools.join(', '), { width: 12, grows: true }),
      ownColumn('turns', 'count', 'messages so far'),
      {
        ...{ key: 'quiet', title: 'silent', type: 'seconds' },
        meaning: 'time since its last sign',
        value: ({ ended, quiet }) => (ended === null && quiet !== null ? Math.max(0, quiet) : null),
      },
      {
        ...{ key: 'seconds', title: 'since', type: 'seconds' },
        meaning: 'time since it began',
        value: ({ seconds }) => (seconds === null ? null : Math.max(0, seconds)),
      },
      {
        ...{ key: 'messages', title: 'messages', type: 'text', hidesFromPeople: true },
        meaning: 'file that holds them so far',
        value: ({ path }) => path,
      },
    ],
    rows,
    details: ({ uid, tools, stage, quiet, seconds, writer }) => ({
      ...{ uid, tools: [...tools], stage, quiet, seconds },
      written: writer === null ? null : new Date(writer.written).toISOString(),
      writer_gone: writer?.isGone ?? null,
    }),
    notes: states.map((state) => `${stagesText(state)}   ${signText(state, now)}`),
    leftOut: total > listed ? [`${plural(total - listed, 'rollout')} more than their writer lists one by one`] : [],
    empty: 'no run writes here: a finished rollout is a row of the list',
  };
}

/** How many rollouts the writers have under way. */
export const countUnderWay = (states: readonly FoundState[]): number =>
  states.reduce((sum, { stages }) => sum + Object.values(stages).reduce((all, count) => all + count, 0), 0);

/** A finished one shows its score, once its record exists. */
function stageText({ stage, ended, place }: LiveRow): string {
  if (ended === null) return stage;
  return place === null ? 'ended' : `done, ${scoreText(place.file.score(place.record) ?? null)}`;
}

const stagesText = ({ stages }: FoundState): string =>
  Object.entries(stages)
    .sort((a, b) => b[1] - a[1])
    .map(([stage, count]) => `${count} ${stage}`)
    .join(', ') || 'none';

/** A dead writer can be distinguished from a slow one only if it ran on this machine. */
function signText({ written, isGone }: FoundState, now: number): string {
  const silent = now - written;
  // A process in another container may have no visible pid here; a writer that still writes is alive.
  if (isGone && silent > MISSED_MS)
    return `its writer is gone, ${secondsText(Math.max(0, silent) / 1000)} after its last sign`;
  if (silent < -SILENT_MS) return 'its clock is ahead of this machine’s';
  return silent > SILENT_MS ? `no sign for ${secondsText(silent / 1000)}: stopped, or out of reach` : 'live';
}
