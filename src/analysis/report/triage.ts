import { plural } from '../../core/text/numbers.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import type { TriagePick } from '../triage.ts';
import { column, ownColumn, stepColumn } from './columns.ts';
import type { Report } from './report.ts';

/** The rollouts to read, each with its reason. */
export function triageReport(facts: FactRows, picks: readonly TriagePick[]): Report<TriagePick> {
  const [steps, scores] = [facts.numbers('step'), facts.numbers('score')];
  return {
    title: `${plural(picks.length, 'rollout')} to read`,
    columns: [
      {
        key: 'locator',
        title: 'rollout',
        type: 'rollout',
        meaning: 'the rollout to read',
        identifies: true,
        value: ({ row }) => facts.place(row),
      },
      { ...stepColumn, hidesFromPeople: true, value: ({ row }) => steps[row] ?? null },
      column('score', 'score', 'score', 'recorded score', ({ row }) => scores[row] ?? null),
      ownColumn('reason', 'text', 'why it is worth reading', { grows: true, width: 40 }),
      ownColumn('kind', 'text', 'the kind of reason', { width: 10 }),
    ],
    rows: picks,
    empty: 'no rollouts',
  };
}
