import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { saidBy } from '../../../analysis/movement/said.ts';
import { triageReport } from '../../../analysis/report/triage.ts';
import { type TriagePick, triage } from '../../../analysis/triage.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { placeCell, reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

/** The rollouts to read, each with a reason; while reading one, a key moves on to the next. */
export function triagePage(
  { n, seed }: SubjectOf<'triage'>,
  sort: PageSort | null,
  facts: FactRows,
  data: Store,
): Page {
  const picks = data.workedOut.of(facts, `triage ${n} ${seed}`, (rest) =>
    triage(facts, { n, seed, rest, textOf: (row) => saidBy(facts, row) }),
  );
  if (picks === null) return stillWorking('what to read', data.workedOut.note);
  const isRead = ({ row }: TriagePick): boolean => {
    const { file, record } = facts.place(row);
    return file.isRead(record) === true;
  };
  return reportPage(triageReport(facts, picks), {
    sort,
    inFull: 'reason',
    note: data.facts.note || `${picks.filter(isRead).length} of ${picks.length} read`,
    head: [
      `${data.keys.label('open', 'page')} reads one; there ${data.keys.label('page.next')} moves to the next, ${data.keys.label('label')} and a letter labels it and moves on`,
    ],
    drawn: { locator: (pick) => `${isRead(pick) ? '✓' : ' '} ${placeCell(facts.place(pick.row))}` },
    open: ({ row }) => ({ type: 'page-read', place: facts.place(row), turn: null }),
    says: ({ reason }) => reason,
  });
}
