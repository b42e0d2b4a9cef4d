import type { FoundState } from '../../../core/dump/live-reader.ts';
import { formatCount, plural } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { scoreText } from '../../present/quantities.ts';
import { secondsText } from '../../present/time-bar.ts';
import type { LiveRow, LiveStates } from '../rows/live-states.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort } from '../state/page.ts';
import { byColumn } from './by-column.ts';

/** A writer reports once a second. */
const SILENT_MS = 10_000;
const MISSED_MS = 3000;

/** Unfinished rollouts: the stage of each, its progress, and how long it has been silent. A finished one keeps its row for a while. */
export function underWayPage(
  live: Pick<LiveStates, 'states' | 'rows' | 'placeOf'>,
  sort: PageSort | null,
  now = Date.now(),
): Page {
  const { states, rows } = live;
  const valueIn = (row: LiveRow, column: number): number | string | null =>
    [row.task, row.step, stageText(row), row.tools.join(' '), row.turns, row.quiet, row.seconds][column] ?? null;
  const ordered = sort === null ? rows : byColumn(rows, (row) => valueIn(row, sort.column), sort.descending);
  const total = (states ?? []).reduce(
    (sum, { stages }) => sum + Object.values(stages).reduce((all, count) => all + count, 0),
    0,
  );
  const listed = (states ?? []).reduce((sum, { rollouts }) => sum + rollouts.length, 0);
  return {
    title: 'rollouts under way',
    note: states === null ? 'looking …' : formatCount(total),
    head: [
      ...(states ?? []).map((state) => sanitiseLine(`${stagesText(state)}   ${signText(state, now)}`)),
      ...(total > listed ? [`${plural(total - listed, 'rollout')} more than their writer lists one by one`] : []),
    ],
    columns: [
      { title: 'rollout', width: 9, isText: true, isFixed: true },
      { title: 'step', width: 6 },
      { title: 'stage', width: 14, isText: true },
      { title: 'tool', width: 12, isText: true, grows: true },
      { title: 'turns', width: 6 },
      { title: 'silent', width: 11 },
      { title: 'since', width: 11 },
    ],
    length: ordered.length,
    keyOf: (index) => ordered[index]!.key,
    empty: states === null ? 'looking …' : 'no run writes here: a finished rollout is a row of the list',
    sort,
    row: (index) => {
      const row = ordered[index]!;
      const { task, step, tools, turns, seconds, quiet, ended } = row;
      const known = (value: number | null) => (value === null ? '–' : secondsText(Math.max(0, value)));
      return {
        cells: [
          sanitiseLine(task),
          step === null ? '–' : String(step),
          stageText(row),
          sanitiseLine(tools.join(', ')),
          String(turns),
          ended === null ? known(quiet) : '–',
          known(seconds),
        ],
        ...(row.path === null && row.place === null
          ? {}
          : { open: () => ({ type: 'page-read', place: live.placeOf(row)!, turn: null }) }),
      };
    },
  };
}

/** A finished one shows its score, once its record exists. */
function stageText({ stage, ended, place }: LiveRow): string {
  if (ended === null) return sanitiseLine(stage);
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
