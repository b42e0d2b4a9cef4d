import { formatCount, plural } from '../../present/numbers.ts';
import { secondsText } from '../../present/time-bar.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { PageSort } from '../state/page.ts';
import type { FoundState } from './live-states.ts';
import { byColumn, type Page } from './page.ts';

/** A writer says something once a second. */
const SILENT_MS = 10_000;
const MISSED_MS = 3000;

/** Rollouts that are not finished: the stage of each, how far it is, how long it takes. */
export function underWayPage(states: readonly FoundState[] | null, sort: PageSort | null, now = Date.now()): Page {
  const rows = (states ?? []).flatMap(({ rollouts }) => rollouts);
  const valueIn = (row: (typeof rows)[number], column: number): number | string | null =>
    [row.task, row.rollout, row.step, row.stage, row.tools.join(' '), row.turns, row.seconds][column] ?? null;
  // Who takes longest is asked for first.
  const order = sort ?? { column: 6, descending: true };
  const ordered = byColumn(rows, (row) => valueIn(row, order.column), order.descending);
  const total = (states ?? []).reduce(
    (sum, { stages }) => sum + Object.values(stages).reduce((all, count) => all + count, 0),
    0,
  );
  const left = total - rows.length;
  return {
    title: 'rollouts under way',
    note: states === null ? 'looking …' : formatCount(total),
    head: [
      ...(states ?? []).map((state) => sanitiseLine(`${stagesText(state)}   ${signText(state, now)}`)),
      ...(left > 0 ? [`${plural(left, 'rollout')} more than their writer lists one by one`] : []),
    ],
    columns: [
      { title: 'task', width: 7, isFixed: true },
      { title: 'rollout', width: 8 },
      { title: 'step', width: 6 },
      { title: 'stage', width: 11, isText: true },
      { title: 'tool', width: 24, isText: true, grows: true },
      { title: 'turns', width: 6 },
      { title: 'since', width: 11 },
    ],
    length: ordered.length,
    empty: states === null ? 'looking …' : 'no run writes here: a finished rollout is a row of the list',
    sort: order,
    row: (index) => {
      const { task, rollout, step, stage, tools, turns, seconds } = ordered[index]!;
      return {
        cells: [
          String(task),
          String(rollout),
          step === null ? '–' : String(step),
          sanitiseLine(stage),
          sanitiseLine(tools.join(', ')),
          String(turns),
          secondsText(Math.max(0, seconds)),
        ],
      };
    },
  };
}

const stagesText = ({ stages }: FoundState): string =>
  Object.entries(stages)
    .sort((a, b) => b[1] - a[1])
    .map(([stage, count]) => `${count} ${stage}`)
    .join(', ') || 'none';

/** A dead writer is told from a slow one only where it ran on this machine. */
function signText({ written, isGone }: FoundState, now: number): string {
  const silent = now - written;
  // A process of another container may have no number here: whoever writes on is not gone.
  if (isGone && silent > MISSED_MS)
    return `its writer is gone, ${secondsText(Math.max(0, silent) / 1000)} after its last sign`;
  if (silent < -SILENT_MS) return 'its clock is ahead of this machine’s';
  return silent > SILENT_MS ? `no sign for ${secondsText(silent / 1000)}: stopped, or out of reach` : 'live';
}
