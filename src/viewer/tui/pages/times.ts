import {
  startOnClock,
  stepSeconds,
  stepTimes,
  stepTimesCount,
  stepTimesReport,
} from '../../../analysis/report/step-times.ts';
import { timesReport, turnsDuring } from '../../../analysis/report/times.ts';
import type { ClockRow, StepClock } from '../../../analysis/step-clock.ts';
import type { Stretch, TimeSpan } from '../../../core/rollout/times.ts';
import { secondsText } from '../../../core/text/quantities.ts';
import { timeBar, timeLegend } from '../../present/time-bar.ts';
import type { Data } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { Action } from '../state/action.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { reportPage } from './report-page.ts';

const BAR = 30;

/** The time of one rollout. Enter goes to the turns made in a stretch, or to the only one. */
export function timesPage({ place, within }: SubjectOf<'times'>, sort: PageSort | null, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const times = rollout?.times;
  const wall = times?.wall ?? 0;
  const open = (span: TimeSpan): Action | null => {
    const [first, ...others] = within === undefined ? turnsDuring(span, times?.spans ?? []) : [span.turn];
    if (first === undefined) return null;
    if (others.length === 0) return { type: 'page-read', place, turn: first };
    const { start, end } = span;
    return { type: 'page-open', subject: { kind: 'times', place, within: { start, end } } };
  };
  return reportPage(timesReport(locator, times, within), {
    sort,
    note: times === undefined ? 'no times recorded' : secondsText(wall),
    head:
      times === undefined
        ? []
        : [
            timeLegend(times)
              .map((pieces) => pieces.map(([, text]) => text).join(''))
              .join('   '),
          ],
    drawn: {
      share: (span) =>
        timeBar(
          [{ kind: null, start: 0, end: span.start }, span, { kind: null, start: span.end, end: wall }],
          wall,
          BAR,
        ),
    },
    open,
  });
}

/** A step as a picture: the rollouts on their common clock, or else each from its own start. */
export function stepTimesPage(
  { place: { file, record } }: SubjectOf<'step-times'>,
  sort: PageSort | null,
  width: number,
): Page {
  const step = file.stepOf(record);
  const records = Array.from({ length: file.count }, (_, one) => one).filter((one) => file.stepOf(one) === step);
  const times = stepTimes(records.map((one) => ({ record: one, facts: file.facts(one) })));
  const { clock } = times;
  const bar = Math.max(BAR, width - FIXED);
  return reportPage(stepTimesReport(step === null ? file.stem : `step ${step}`, times), {
    sort,
    order: { column: 1, descending: true },
    note: stepTimesCount(times),
    widths: { share: bar },
    drawn: { share: (row) => timeBar(sharesOf(row, clock), stepSeconds(times), bar) },
    open: (row) => ({ type: 'page-read', place: { file, record: row.record }, turn: null }),
  });
}

/** The always visible columns beside the picture. */
const FIXED = 48;

/** The kinds one after another, by their totals: the rollout's own page shows when each occurred. */
function sharesOf(row: ClockRow, clock: StepClock | null): Stretch[] {
  const { by, wall } = row;
  const start = startOnClock(row, clock);
  const stretches: Stretch[] = [{ kind: null, start: 0, end: start }];
  let at = start;
  for (const kind of ['queue', 'setup', 'model', 'tool', 'score'] as const) {
    const seconds = by[kind] ?? 0;
    if (seconds <= 0) continue;
    stretches.push({ kind, start: at, end: at + seconds });
    at += seconds;
  }
  return [...stretches, { kind: null, start: at, end: Math.max(at, start + wall) }];
}
