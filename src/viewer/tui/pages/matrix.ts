import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { PASS } from '../../../analysis/prompts/group-stats.ts';
import { cellAt, type Matrix, type MatrixRow, promptMatrix } from '../../../analysis/prompts/matrix.ts';
import { CELLS, matrixReport } from '../../../analysis/report/matrix.ts';
import { meanText } from '../../../core/text/quantities.ts';
import type { Cell } from '../../present/page-table.ts';
import type { Store } from '../rows/data.ts';
import type { Page } from '../rows/page.ts';
import type { PageSort } from '../state/page.ts';
import { groupsOf, openGroup } from './groups.ts';
import { promptText } from './prompt-text.ts';
import { reportPage } from './report-page.ts';

const matrices = new WeakMap<FactRows, Matrix>();

function matrixOf(facts: FactRows): Matrix {
  const known = matrices.get(facts) ?? promptMatrix(groupsOf(facts), PASS);
  matrices.set(facts, known);
  return known;
}

/** The mean of each prompt in each step; Enter on a cell opens its group. */
export function matrixPage(sort: PageSort | null, facts: FactRows, data: Store): Page {
  const matrix = matrixOf(facts);
  return reportPage(matrixReport(facts, matrix), {
    sort,
    note: data.facts.note,
    promptOf: (place) => promptText(place, data),
    drawn: Object.fromEntries(
      matrix.steps.map((step) => [`${CELLS}${step}`, (row: MatrixRow): Cell => meanCell(cellAt(row, step)?.mean)]),
    ),
    open: (row, key) => {
      const cell = key.startsWith(CELLS) ? cellAt(row, Number(key.slice(CELLS.length))) : row.cells.at(-1);
      return cell === null || cell === undefined ? null : openGroup(facts, cell);
    },
  });
}

/** The number carries the information; the weight is only a visual aid. */
function meanCell(mean: number | null | undefined): Cell {
  if (mean === undefined) return [['quiet', '·']];
  if (mean === null) return [['quiet', '–']];
  return [[mean >= PASS ? 'strong' : 'plain', shortMean(mean)]];
}

/** `.25`, `1`, `-3`: with one column per step there is little room. */
const shortMean = (mean: number): string =>
  Number.isInteger(mean)
    ? String(mean)
    : meanText(mean)
        .replace(/^(-?)0\./, '$1.')
        .slice(0, 5);
