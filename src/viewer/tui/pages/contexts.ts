import { contextsReport, historyReport } from '../../../analysis/report/contexts.ts';
import type { Place } from '../../../core/dump/place.ts';
import type { ContextNode } from '../../../core/rollout/contexts.ts';
import { plural } from '../../../core/text/numbers.ts';
import type { Data } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { Action } from '../state/action.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { reportPage } from './report-page.ts';

/** The histories of a rollout as a tree. */
export function contextsPage({ place }: SubjectOf<'contexts'>, sort: PageSort | null, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const report = contextsReport(locator, rollout);
  return reportPage(report, {
    sort,
    note: plural(report.rows.length, 'history'),
    head: [
      `${data.keys.label('open', 'page')} reads it; ${data.keys.label('page.switch', 'page')} shows what a compaction kept, else what the model saw`,
    ],
    open: ({ turns: [first], context: { after } }) => {
      const turn = first ?? after;
      return turn === null ? null : { type: 'page-read', place, turn };
    },
    toggle: (node) => besideOf(node, place),
  });
}

/** The messages that a compaction kept; for other histories, what the model saw at their end. */
function besideOf({ index, turns, context: { kind } }: ContextNode, place: Place): Action | undefined {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  return {
    type: 'page-open',
    subject:
      kind === 'compaction' ? { kind: 'compaction', place, context: index } : { kind: 'history', place, turn: last },
  };
}

/** The history before a turn, with the tools offered to the model. */
export function historyPage({ place, turn }: SubjectOf<'history'>, sort: PageSort | null, data: Data): Page {
  const { rollout, locator } = data.record(place);
  const report = historyReport(locator, rollout, turn);
  return reportPage(report, {
    sort,
    note: plural(report.rows.filter((row) => 'turn' in row).length, 'turn'),
    open: (row) => ('turn' in row ? { type: 'page-read', place, turn: row.turn.index } : null),
  });
}
