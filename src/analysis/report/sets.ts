import type { Place } from '../../core/dump/dump.ts';
import { column, ownColumn } from './columns.ts';
import type { Report } from './report.ts';

/** A set of rollouts, and how many of them the open dump holds as they were chosen. */
export interface SetRow {
  name: string;
  rollouts: number;
  here: number;
  changed: number;
  last: string | null;
}

export const setsReport = (rows: readonly SetRow[]): Report<SetRow> => ({
  title: 'sets',
  columns: [
    column('name', 'set', 'text', 'its name', (row) => row.name, { width: 16, identifies: true }),
    { key: 'rollouts', title: 'rollouts', type: 'count', meaning: 'how many it holds', value: (row) => row.rollouts },
    ownColumn('here', 'count', 'how many the open dump holds as they were chosen'),
    ownColumn('changed', 'count', 'how many in the open dump changed since, or are gone'),
    column('last', 'last added', 'text', 'when', (row) => row.last, { grows: true, width: 24 }),
  ],
  rows,
  empty: 'no sets yet',
});

/** A rollout of a set. */
export interface SetMemberRow {
  locator: string;
  place: Place | null;
  now: string;
  reason: string | null;
  filter: string | null;
  by: string;
}

export const setReport = (name: string, rows: readonly SetMemberRow[]): Report<SetMemberRow> => ({
  title: `set ${name}`,
  columns: [
    {
      key: 'locator',
      title: 'rollout',
      type: 'rollout',
      meaning: 'the rollout, as the dump has it',
      identifies: true,
      value: ({ place, locator }) => place ?? locator.slice(locator.lastIndexOf('/') + 1),
    },
    column('now', 'now', 'text', 'same, changed, gone, or of another dump', (row) => row.now),
    ownColumn('by', 'text', 'who chose it', { width: 8 }),
    {
      key: 'reason',
      title: 'reason',
      type: 'text',
      meaning: 'why it was chosen, or the filter that chose it',
      grows: true,
      width: 30,
      value: ({ reason, filter }) => reason ?? filter ?? '',
    },
  ],
  rows,
  empty: 'no rollouts; they were dropped again',
});
