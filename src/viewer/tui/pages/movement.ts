import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import type { Movement } from '../../../analysis/movement/movement.ts';
import { saidBy } from '../../../analysis/movement/said.ts';
import { whatMoved } from '../../../analysis/movement/what-moved.ts';
import { incidentsReport } from '../../../analysis/report/incidents.ts';
import { movedReport, movementReport } from '../../../analysis/report/movement.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { promptText } from './prompt-text.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

const movedIn = (facts: FactRows, data: Store): readonly Movement[] | null =>
  data.workedOut.of(facts, 'movement', (rest) => whatMoved(facts, (row) => saidBy(facts, row), rest));

const openMovement = (name: string) => ({ type: 'page-open', subject: { kind: 'moved', name } }) as const;

/** The incidents, one row each; or every number with its correlations and its jump. Enter shows rollouts from before and after. */
export function movementPage(
  { statistics = false, open: unfolded = [] }: SubjectOf<'movement'>,
  sort: PageSort | null,
  facts: FactRows,
  data: Store,
): Page {
  const found = movedIn(facts, data);
  if (found === null) return stillWorking('incidents', data.workedOut.note);
  const other = data.keys.label('page.numbers', 'page');
  if (statistics)
    return reportPage(movementReport(facts, found), {
      sort,
      note: data.facts.note,
      head: [`${other} goes back to the incidents`],
      open: ({ change, name }) => (change === null ? null : openMovement(name)),
      other: { type: 'page-change', subject: { kind: 'movement', open: unfolded } },
    });
  const report = incidentsReport(facts, found, (_, index) => unfolded.includes(index));
  const incidents = [...new Set(report.rows.map(({ incident }) => incident))];
  return reportPage(report, {
    sort,
    inFull: 'sentence',
    note: data.facts.note,
    head: [
      `${data.keys.label('open', 'page')} shows rollouts from before and after; ${data.keys.label('page.switch', 'page')} what came of it; ${other} the statistics`,
    ],
    open: ({ incident: { movements } }) => (movements[0] === undefined ? null : openMovement(movements[0].name)),
    toggle: ({ incident }) => {
      const at = incidents.indexOf(incident);
      const open = unfolded.includes(at) ? unfolded.filter((one) => one !== at) : [...unfolded, at];
      return { type: 'page-change', subject: { kind: 'movement', open } };
    },
    other: { type: 'page-change', subject: { kind: 'movement', statistics: true, open: unfolded } },
  });
}

/** Rollouts from before and after a number's change. */
export function movedPage(name: string, sort: PageSort | null, facts: FactRows, data: Store): Page {
  const found = movedIn(facts, data);
  if (found === null) return stillWorking('changes', data.workedOut.note);
  return reportPage(movedReport(facts, name, found.find((one) => one.name === name) ?? null), {
    sort,
    note: data.facts.note,
    promptOf: (place) => promptText(place, data),
    open: ({ row }) => ({ type: 'page-read', place: facts.place(row), turn: null }),
  });
}
