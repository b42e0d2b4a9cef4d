import { signalReport } from '../../../analysis/report/signal.ts';
import { formatCount, plural } from '../../../core/text/numbers.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

/** The learning signal of a step, and a row for each finding; Enter goes to the turn. */
export function signalPage({ place }: SubjectOf<'signal'>, sort: PageSort | null, data: Store): Page {
  const { file } = place;
  const step = file.stepOf(place.record);
  const { done, total, signal } = data.signals.of(file, step);
  const name = step === null ? file.stem : `step ${step}`;
  if (signal === null) return { ...stillWorking(name), note: `reading ${formatCount(done)} of ${formatCount(total)}` };
  const placeOf = (row: number) => ({ file, record: signal.rows[row]?.at ?? place.record });
  return reportPage(signalReport({ ...signal, name, placeOf }), {
    sort,
    note: plural(signal.audit.findings.length, 'finding'),
    drawn: {
      severity: ({ severity }) => [[severity === 'error' ? 'error' : 'warning', severity === 'error' ? '!' : '·']],
    },
    open: ({ rows: [first = 0], turn }) => ({ type: 'page-read', place: placeOf(first), turn }),
  });
}
