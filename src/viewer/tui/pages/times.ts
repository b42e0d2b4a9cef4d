import { type ClockRow, type StepClock, stepClock, waitedOf } from '../../../analysis/step-clock.ts';
import { itemAt, lastItem, numberInAt } from '../../../core/lists/at.ts';
import type { Facts } from '../../../core/rollout/fact-row.ts';
import { type Stretch, TIME_KINDS, type TimeSpan } from '../../../core/rollout/times.ts';
import { plural } from '../../../core/text/numbers.ts';
import { secondsText } from '../../../core/text/quantities.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { timeBar, timeLegend } from '../../present/time-bar.ts';
import type { Data } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { Action } from '../state/action.ts';
import type { PageSort, PageSubject } from '../state/page.ts';
import { byColumn } from './by-column.ts';

const BAR = 30;

/** The time of one rollout: one row per stretch of the clock. Enter goes to the turns made in it, or to the only one. */
export function timesPage(
  { place, within }: Extract<PageSubject, { kind: 'times' }>,
  sort: PageSort | null,
  data: Data,
): Page {
  const { rollout, locator } = data.record(place);
  const times = rollout?.times;
  const all = [...(times?.spans ?? [])].sort((a, b) => a.start - b.start || a.end - b.end);
  const spans = within === undefined ? all : all.filter((span) => span.turn !== null && meets(span, within));
  const turnsIn = (one: TimeSpan): number[] => [
    ...new Set(all.flatMap((span) => (span.turn !== null && (span === one || meets(span, one)) ? [span.turn] : []))),
  ];
  const openOf = (span: TimeSpan): Action | null => {
    const [first, ...others] = within === undefined ? turnsIn(span) : [span.turn];
    if (first === undefined) return null;
    if (others.length === 0) return { type: 'page-read', place, turn: first };
    const { start, end } = span;
    return { type: 'page-open', subject: { kind: 'times', place, within: { start, end } } };
  };
  const valueIn = ({ kind, start, end, turn }: (typeof spans)[number], column: number): number | string | null =>
    [start, end - start, kind, turn, start][column] ?? null;
  const rows = sort === null ? spans : byColumn(spans, (span) => valueIn(span, sort.column), sort.descending);
  return {
    title: sanitiseLine(
      within === undefined
        ? `the time of ${locator}`
        : `turns of ${locator} from ${secondsText(within.start)} to ${secondsText(within.end)}`,
    ),
    note: times === undefined ? 'no times recorded' : secondsText(times.wall),
    head:
      times === undefined
        ? []
        : [
            timeLegend(times)
              .map((pieces) => pieces.map(([, text]) => text).join(''))
              .join('   '),
            ...(times.doubt === null ? [] : [times.doubt]),
          ],
    columns: [
      { title: 'at', width: 12, isFixed: true },
      { title: 'took', width: 12 },
      { title: 'kind', width: 7, isText: true },
      { title: 'turn', width: 6 },
      { title: 'on the clock', width: BAR, isText: true, grows: true },
    ],
    length: rows.length,
    empty:
      times === undefined ? 'its writer recorded no times' : 'only sums were recorded, without a place on the clock',
    sort,
    row: (index) => {
      const span = itemAt(rows, index);
      const { kind, start, end, turn } = span;
      const open = openOf(span);
      return {
        cells: [
          secondsText(start),
          secondsText(end - start),
          kind,
          turn === null ? '–' : `t${turn}`,
          timeBar(
            [{ kind: null, start: 0, end: start }, span, { kind: null, start: end, end: times!.wall }],
            times!.wall,
            BAR,
          ),
        ],
        ...(open === null ? {} : { open: () => open }),
      };
    },
  };
}

const meets = (a: Pick<TimeSpan, 'start' | 'end'>, b: Pick<TimeSpan, 'start' | 'end'>): boolean =>
  a.start < b.end && a.end > b.start;

/** A step as a picture: one row per rollout, on their common clock, or else each from its own start. */
export function stepTimesPage(
  { place }: Extract<PageSubject, { kind: 'step-times' }>,
  sort: PageSort | null,
  width: number,
): Page {
  const { file } = place;
  const step = file.stepOf(place.record);
  const rows: ClockRow[] = [];
  let unknown = 0;
  let unread = 0;
  for (let record = 0; record < file.count; record++) {
    if (file.stepOf(record) !== step) continue;
    const facts = file.facts(record);
    const row = clockRow(facts, record);
    if (facts === undefined) unread++;
    else if (row === null) unknown++;
    else rows.push(row);
  }
  const clock = stepClock(rows);
  const whole = clock?.seconds ?? rows.reduce((longest, { wall }) => Math.max(longest, wall), 0);
  const startOf = ({ start }: ClockRow): number => (clock === null || start === null ? 0 : start - clock.first);
  const bar = Math.max(BAR, width - FIXED);
  const valueIn = (row: ClockRow, column: number): number | null => {
    const { queue, model, tool, score } = row.by;
    const end = startOf(row) + row.wall;
    return [row.record + 1, end, end, waitedOf(row), model, tool, queue, score][column] ?? null;
  };
  const order = sort ?? { column: 1, descending: true };
  const ordered = byColumn(rows, (row) => valueIn(row, order.column), order.descending);
  return {
    title: sanitiseLine(`the time of ${step === null ? file.stem : `step ${step}`}`),
    note: [
      plural(rows.length, 'rollout'),
      ...(unread === 0 ? [] : [`${unread} are not read yet`]),
      ...(unknown === 0 ? [] : [`of ${unknown} no times are known`]),
    ].join(', '),
    head: rows.length === 0 ? [] : clock === null ? [ownStartsText(rows)] : clockLines(clock, rows),
    columns: [
      { title: 'sample', width: 7, isFixed: true },
      { title: clock === null ? 'took' : 'end', width: 11 },
      { title: clock === null ? 'from its own start' : 'on the clock', width: bar, isText: true },
      { title: 'waited', width: 11 },
      { title: 'model', width: 11 },
      { title: 'tool', width: 11 },
      { title: 'queue', width: 11 },
      { title: 'score', width: 11 },
    ],
    length: ordered.length,
    empty:
      unread > 0
        ? 'not known yet: they are being read'
        : unknown > 0
          ? 'no times are known of these rollouts'
          : 'no rollouts',
    sort: order,
    row: (index) => {
      const row = itemAt(ordered, index);
      const { record, wall, by } = row;
      const known = (seconds: number | null | undefined) => (seconds == null ? '–' : secondsText(seconds));
      return {
        cells: [
          String(record + 1),
          secondsText(startOf(row) + wall),
          timeBar(sharesOf(row, startOf(row)), whole, bar),
          known(waitedOf(row)),
          known(by.model),
          known(by.tool),
          known(by.queue),
          known(by.score),
        ],
        open: () => ({ type: 'page-read', place: { file, record }, turn: null }),
      };
    },
  };
}

/** The always visible columns beside the picture. */
const FIXED = 48;

function clockRow(facts: Facts | undefined, record: number): ClockRow | null {
  const wall = facts?.value('time.wall');
  if (facts === undefined || typeof wall !== 'number') return null;
  const by: ClockRow['by'] = {};
  for (const kind of KINDS) {
    const seconds = facts.value(`time.${kind}`);
    if (typeof seconds === 'number') by[kind] = seconds;
  }
  const start = facts.value('time.start');
  return { record, start: typeof start === 'number' ? start : null, wall, by };
}

const KINDS = [...TIME_KINDS, 'blank'] as const;

function clockLines({ seconds, tail, straggler }: StepClock, rows: readonly ClockRow[]): string[] {
  const { kind, took, record } = straggler;
  const share = `${Math.round(100 * tail.share)} %`;
  const hung = `for ${secondsText(tail.seconds)} (${share}) it hung on the last ${tail.rollouts} of ${rows.length}`;
  const word = kind === 'blank' ? 'unexplained' : kind;
  const what = word === null || took === 0 ? '' : `, ${secondsText(took)} of its time ${word}`;
  return [
    `took ${secondsText(seconds)}${rows.length === 1 ? '' : `; ${hung}`}`,
    `sample ${record + 1} ended last${what}`,
  ];
}

function ownStartsText(rows: readonly ClockRow[]): string {
  const walls = rows.map(({ wall }) => wall).sort((a, b) => a - b);
  const most = lastItem(walls);
  const most95 = numberInAt(walls, Math.max(0, Math.ceil(walls.length * 0.95) - 1));
  const started = rows.filter(({ start }) => start !== null).length;
  const starts = started === 0 ? 'no starts are recorded' : `starts are recorded of ${started} of ${rows.length}`;
  return `the slowest took ${secondsText(most)}, 95 % of them ${secondsText(most95)} or less; ${starts}`;
}

/** The kinds one after another, by their totals: the rollout's own page shows when each occurred. */
function sharesOf({ by, wall }: ClockRow, start: number): Stretch[] {
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
