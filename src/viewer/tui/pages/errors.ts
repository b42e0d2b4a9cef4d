import { troublesOf } from '../../../analysis/errors/troubles.ts';
import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { failuresReport } from '../../../analysis/report/errors.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort } from '../state/page.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

/** If more rollouts have calls, only those whose facts show an error are read. */
const MOST_READ = 20_000;

/** Tool errors by tool and kind, and how rollouts ended, with the steps at which they occurred. */
export function errorsPage(sort: PageSort | null, facts: FactRows, data: Store): Page {
  const found = data.workedOut.of(facts, 'errors', (rest) =>
    troublesOf(facts, { most: MOST_READ, skipsLong: true, rest }),
  );
  if (found === null) return stillWorking('failures', data.workedOut.note);
  return reportPage(failuresReport(found, facts.length), {
    sort,
    note: data.facts.note,
    head: [`${data.keys.label('open', 'page')} lists the rollouts; in the column first it opens one of them`],
    open: ({ filter, first }, key) =>
      filter === null || key === 'first'
        ? { type: 'page-read', place: first, turn: first.turn ?? null }
        : { type: 'page-list', filter },
  });
}
