import type { Place } from '../../core/dump/dump.ts';
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
    {
      key: 'name',
      title: 'set',
      type: 'text',
      meaning: 'its name',
      width: 16,
      identifies: true,
      value: (row) => row.name,
    },
    { key: 'rollouts', title: 'rollouts', type: 'count', meaning: 'how many it holds', value: (row) => row.rollouts },
    {
      key: 'here',
      title: 'here',
      type: 'count',
      meaning: 'how many the open dump holds as they were chosen',
      value: ({ here }) => here,
    },
    {
      key: 'changed',
      title: 'changed',
      type: 'count',
      meaning: 'how many in the open dump changed since, or are gone',
      value: ({ changed }) => changed,
    },
    {
      key: 'last',
      title: 'last added',
      type: 'text',
      meaning: 'when',
      grows: true,
      width: 24,
      value: (row) => row.last,
    },
  ],
  rows,
  notes: [],
  leftOut: [],
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
    {
      key: 'now',
      title: 'now',
      type: 'text',
      meaning: 'same, changed, gone, or of another dump',
      value: (row) => row.now,
    },
    { key: 'by', title: 'by', type: 'text', meaning: 'who chose it', width: 8, value: ({ by }) => by },
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
  notes: [],
  leftOut: [],
  empty: 'no rollouts; they were dropped again',
});
