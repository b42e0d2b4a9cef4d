import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { PASS } from '../../../analysis/prompts/group-stats.ts';
import { type GroupRow, groupTable } from '../../../analysis/prompts/group-table.ts';
import { groupsReport } from '../../../analysis/report/groups.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { Action } from '../state/action.ts';
import type { PageSort, SubjectOf } from '../state/page.ts';
import { promptText } from './prompt-text.ts';
import { reportPage } from './report-page.ts';

/** Tables are built from facts once, however often they are sorted. */
const tables = new WeakMap<FactRows, readonly GroupRow[]>();
/** The facts of the last one: what grew since is added to its groups. */
let latest: FactRows | null = null;

export function groupsOf(facts: FactRows): readonly GroupRow[] {
  const known = tables.get(facts);
  if (known !== undefined) return known;
  const earlier = latest === null ? undefined : tables.get(latest);
  const table =
    latest === null || earlier === undefined
      ? groupTable(facts)
      : groupTable(facts, PASS, { table: earlier, from: facts.sharedWith(latest) });
  latest = facts;
  tables.set(facts, table);
  return table;
}

/** The page of a group. */
export function openGroup(facts: FactRows, { rows: [first] }: GroupRow): Action | null {
  return first === undefined
    ? null
    : { type: 'page-open', subject: { kind: 'group', place: facts.place(first), left: [] } };
}

/** A row for each prompt of each step. */
export const groupsPage = ({ k }: SubjectOf<'groups'>, sort: PageSort | null, facts: FactRows, data: Store): Page =>
  reportPage(groupsReport(facts, groupsOf(facts), k), {
    sort,
    note: data.facts.note,
    promptOf: (place) => promptText(place, data),
    open: (row) => openGroup(facts, row),
  });
