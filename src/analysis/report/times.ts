import type { Rollout } from '../../core/rollout/rollout.ts';
import type { TimeSpan } from '../../core/rollout/times.ts';
import { secondsText } from '../../core/text/quantities.ts';
import { column, ownColumn } from './columns.ts';
import type { Report } from './report.ts';

/** A part of the clock, in seconds from the rollout's start. */
type Window = Pick<TimeSpan, 'start' | 'end'>;

/** The time of one rollout: a row for each recorded stretch. @param within only stretches of turns that meet it */
export function timesReport(locator: string, times: Rollout['times'], within?: Window): Report<TimeSpan> {
  const wall = times?.wall ?? 0;
  const spans = [...(times?.spans ?? [])].sort((a, b) => a.start - b.start || a.end - b.end);
  return {
    title:
      within === undefined
        ? `the time of ${locator}`
        : `turns of ${locator} from ${secondsText(within.start)} to ${secondsText(within.end)}`,
    columns: [
      {
        ...{ key: 'start', title: 'at', type: 'seconds', width: 12, identifies: true },
        meaning: 'its start, from the start of the rollout',
        value: ({ start }) => start,
      },
      column('seconds', 'took', 'seconds', 'its length', ({ start, end }) => end - start, { width: 12 }),
      ownColumn('kind', 'text', 'model, tool, queue, score or setup', { width: 7 }),
      ownColumn('turn', 'turn', 'the turn made in it', { width: 6 }),
      {
        ...{ key: 'share', title: 'on the clock', type: 'bar', width: 30, grows: true },
        meaning: 'its share of the rollout’s time',
        value: ({ start, end }) => (wall > 0 ? (end - start) / wall : null),
      },
    ],
    rows: within === undefined ? spans : spans.filter((span) => span.turn !== null && meets(span, within)),
    notes: times?.doubt == null ? [] : [times.doubt],
    empty:
      times === undefined ? 'its writer recorded no times' : 'only sums were recorded, without a place on the clock',
  };
}

/** The turns made while a stretch lasted, parallel ones included. */
export const turnsDuring = (span: TimeSpan, spans: readonly TimeSpan[]): number[] => [
  ...new Set(spans.flatMap((one) => (one.turn !== null && (one === span || meets(one, span)) ? [one.turn] : []))),
];

const meets = (a: Window, b: Window): boolean => a.start < b.end && a.end > b.start;
