import { plural } from '../../core/text/numbers.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { cellAt, type Matrix, type MatrixRow } from '../prompts/matrix.ts';
import { ownColumn, streamColumn } from './columns.ts';
import { NO_GROUPS } from './groups.ts';
import { locatorText, type Report, type ReportColumn } from './report.ts';

/** The prefix of the keys of step columns. */
export const CELLS = 'cells.';

/** Cells for `.25` and `1`: there are many steps. */
const NARROW = 3;

/** The mean of each prompt in each step. */
export function matrixReport(facts: FactRows, { steps, rows }: Matrix): Report<MatrixRow> {
  const firstOf = ({ cells }: MatrixRow) => facts.place(cells[0]?.rows[0] ?? 0);
  const isNarrow = rows.every(({ cells }) => cells.every(({ mean }) => mean === null || (mean >= 0 && mean <= 1)));
  return {
    title: `mean scores of ${plural(rows.length, 'prompt')} in ${plural(steps.length, 'step')}`,
    columns: [
      streamColumn,
      {
        key: 'first',
        title: 'prompt',
        type: 'prompt',
        meaning: 'the prompt, by the first rollout that has it',
        identifies: true,
        width: 18,
        grows: true,
        value: firstOf,
      },
      ownColumn('swing', 'mean', 'largest mean less the smallest', { identifies: true }),
      ownColumn('learned', 'step', 'step from which on the prompt is solved', { identifies: true }),
      ownColumn('forgotten', 'step', 'step from which on a prompt that was solved is not', { identifies: true }),
      ...steps.map(
        (step): ReportColumn<MatrixRow> => ({
          key: `${CELLS}${step}`,
          title: Number.isNaN(step) ? 'no step' : String(step),
          type: 'mean',
          ...(isNarrow ? { width: NARROW } : {}),
          meaning: Number.isNaN(step) ? 'mean score of rollouts without a step' : `mean score in step ${step}`,
          value: (row) => cellAt(row, step)?.mean ?? null,
        }),
      ),
    ],
    rows,
    details: ({ cells }) => ({
      cells: cells.map(({ step, n, mean, rows: [member = 0] }) => ({
        step: Number.isNaN(step) ? null : step,
        n,
        mean,
        first: locatorText(facts.place(member)),
      })),
    }),
    empty: NO_GROUPS,
  };
}
