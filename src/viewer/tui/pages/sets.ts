import { setReport, setsReport } from '../../../analysis/report/sets.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import type { SetsState } from '../state/sets.ts';
import { reportPage } from './report-page.ts';
import { stillWorking } from './waiting-page.ts';

/** Every set; Enter shows its rollouts. */
export function setsPage({ known }: SetsState, sort: PageSort | null, data: Store): Page {
  if (known === null) return stillWorking('sets');
  const rows = [...known].map(([name, members]) => ({
    name,
    rollouts: members.length,
    here: members.filter(({ now }) => now === 'same').length,
    changed: members.filter(({ now }) => now === 'changed' || now === 'gone').length,
    last: members.at(-1)?.entry.at ?? null,
  }));
  return reportPage(setsReport(rows), {
    sort,
    note: '',
    head: [`${data.keys.label('label')} + puts the rollout under the cursor, or the marked rows, into a set`],
    open: ({ name }) => ({ type: 'page-open', subject: { kind: 'set', name } }),
    keyOf: ({ name }) => name,
  });
}

/** The rollouts of a set with the reason for each; Enter reads one. */
export function setPage({ name }: SubjectOf<'set'>, { known }: SetsState, sort: PageSort | null, data: Store): Page {
  const members = known?.get(name) ?? [];
  const rows = members.map(({ entry, now, place }) => ({ ...entry, now, place }));
  return reportPage(setReport(name, rows), {
    sort,
    note: '',
    head: [
      `rollout-viewer export ${name} --to trl --out ${name}.jsonl writes it for a trainer`,
      `${data.keys.label('page.switch', 'page')} takes a rollout out`,
    ],
    open: ({ place }) => (place === null ? null : { type: 'page-read', place, turn: null }),
    toggle: ({ locator }) => ({ type: 'set-drop', name, locator }),
    says: ({ reason, filter }) => reason ?? filter ?? '',
  });
}
