import { plural } from '../../present/numbers.ts';
import { secondsText, timeBar, timeLegend } from '../../present/time-bar.ts';
import { type stretchesOf, TIME_KINDS } from '../../rollout/times.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { PageSort, PageSubject } from '../state/page.ts';
import type { Data } from './data.ts';
import { byColumn, type Page } from './page.ts';

const BAR = 30;

/** Where the time of one rollout went: a row for each stretch of the clock, what nothing explains among them. */
export function timesPage({ place }: Extract<PageSubject, { kind: 'times' }>, sort: PageSort | null, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const times = rollout?.times;
  const spans = [...(times?.spans ?? [])].sort((a, b) => a.start - b.start || a.end - b.end);
  const valueIn = ({ kind, start, end, turn }: (typeof spans)[number], column: number): number | string | null =>
    [start, end - start, kind, turn, start][column] ?? null;
  const rows = sort === null ? spans : byColumn(spans, (span) => valueIn(span, sort.column), sort.descending);
  return {
    title: sanitiseLine(`the time of ${locator}`),
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
      const span = rows[index]!;
      const { kind, start, end, turn } = span;
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
        ...(turn === null ? {} : { open: () => ({ type: 'page-read', place, turn }) }),
      };
    },
  };
}

interface StepRow {
  record: number;
  wall: number;
  by: Record<string, number | null>;
}

/** A step as a picture: a row for each rollout, the slowest first, each from its own start. */
export function stepTimesPage({ place }: Extract<PageSubject, { kind: 'step-times' }>, sort: PageSort | null): Page {
  const { file } = place;
  const rows: StepRow[] = [];
  let unknown = 0;
  for (let record = 0; record < file.count; record++) {
    const facts = file.facts(record);
    const wall = facts?.value('time.wall');
    if (typeof wall !== 'number') {
      unknown++;
      continue;
    }
    const by = Object.fromEntries(
      [...TIME_KINDS, 'blank'].map((kind) => [kind, numberOf(facts!.value(`time.${kind}`))]),
    );
    rows.push({ record, wall, by });
  }
  const most = rows.reduce((longest, { wall }) => Math.max(longest, wall), 0);
  const valueIn = (row: StepRow, column: number): number | null =>
    [row.record + 1, row.wall, row.wall, row.by.model, row.by.tool, row.by.queue, row.by.score][column] ?? null;
  const order = sort ?? { column: 1, descending: true };
  const ordered = byColumn(rows, (row) => valueIn(row, order.column), order.descending);
  const walls = rows.map(({ wall }) => wall).sort((a, b) => a - b);
  const most95 = walls[Math.max(0, Math.ceil(walls.length * 0.95) - 1)] ?? 0;
  return {
    title: sanitiseLine(`the time of ${file.stem}`),
    note:
      unknown === 0
        ? plural(rows.length, 'rollout')
        : `${plural(rows.length, 'rollout')}, of ${unknown} no times are known`,
    head:
      rows.length === 0 ? [] : [`the slowest took ${secondsText(most)}, 95 % of them ${secondsText(most95)} or less`],
    columns: [
      { title: 'sample', width: 7, isFixed: true },
      { title: 'wall', width: 11 },
      { title: 'from its own start', width: BAR, isText: true },
      { title: 'model', width: 11 },
      { title: 'tool', width: 11 },
      { title: 'queue', width: 11 },
      { title: 'score', width: 11 },
    ],
    length: ordered.length,
    empty: unknown > 0 ? 'no times are known of these rollouts' : 'no rollouts',
    sort: order,
    row: (index) => {
      const { record, wall, by } = ordered[index]!;
      const known = (kind: string) => (by[kind] === null ? '–' : secondsText(by[kind]!));
      return {
        cells: [
          String(record + 1),
          secondsText(wall),
          timeBar(sharesOf(by, wall), most, BAR),
          known('model'),
          known('tool'),
          known('queue'),
          known('score'),
        ],
        open: () => ({ type: 'page-read', place: { file, record }, turn: null }),
      };
    },
  };
}

const numberOf = (value: number | string | null): number | null => (typeof value === 'number' ? value : null);

/** The kinds one behind the other, by their sums: where each moment lay is in the rollout's own page. */
function sharesOf(by: StepRow['by'], wall: number): ReturnType<typeof stretchesOf> {
  const stretches: ReturnType<typeof stretchesOf> = [];
  let at = 0;
  for (const kind of ['queue', 'setup', 'model', 'tool', 'score'] as const) {
    const seconds = by[kind] ?? 0;
    if (seconds <= 0) continue;
    stretches.push({ kind, start: at, end: at + seconds });
    at += seconds;
  }
  return at < wall ? [...stretches, { kind: null, start: at, end: wall }] : stretches;
}
