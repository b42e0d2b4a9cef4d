import type { FactRows } from '../../../analysis/facts/fact-rows.ts';
import { PASS } from '../../../analysis/prompts/group-stats.ts';
import { cellAt, type Matrix, type MatrixRow, promptMatrix } from '../../../analysis/prompts/matrix.ts';
import { CELLS, matrixReport } from '../../../analysis/report/matrix.ts';
import { meanText } from '../../../core/text/quantities.ts';
import type { Cell } from '../../present/page-table.ts';
import { heatStyle } from '../../present/theme.ts';
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
  const range = stepRange(matrix);
  const shared = sharedBeginning(matrix, facts, data);
  return reportPage(matrixReport(facts, matrix), {
    sort,
    note: data.facts.note,
    promptOf: (place) => withoutBeginning(promptText(place, data), shared),
    drawn: Object.fromEntries(
      matrix.steps.map((step) => [
        `${CELLS}${step}`,
        (row: MatrixRow): Cell => meanCell(cellAt(row, step)?.mean, range),
      ]),
    ),
    open: (row, key) => {
      const cell = key.startsWith(CELLS) ? cellAt(row, Number(key.slice(CELLS.length))) : row.cells.at(-1);
      return cell === null || cell === undefined ? null : openGroup(facts, cell);
    },
  });
}

/** The number carries the information; the colour is only a visual aid. */
function meanCell(mean: number | null | undefined, [low, high]: readonly [number, number]): Cell {
  if (mean === undefined) return [['quiet', '·']];
  if (mean === null) return [['quiet', '–']];
  return [[heatStyle(mean, low, high), shortMean(mean).padStart(3)]];
}

function stepRange({ rows }: Matrix): readonly [low: number, high: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { cells } of rows)
    for (const { mean } of cells) if (mean !== null) [low, high] = [Math.min(low, mean), Math.max(high, mean)];
  return [low, high];
}

/** Prompts that are compared to find what all of them begin with. */
const COMPARED = 12;
/** A shorter common beginning is shown. */
const LONG_BEGINNING = 10;

const beginnings = new WeakMap<FactRows, string>();

/** The words that all prompts begin with; '' if they differ at once. */
function sharedBeginning({ rows }: Matrix, facts: FactRows, data: Store): string {
  const known = beginnings.get(facts);
  if (known !== undefined) return known;
  const stride = Math.max(1, Math.floor(rows.length / COMPARED));
  const texts = rows
    .filter((_, i) => i % stride === 0)
    .slice(0, COMPARED)
    .map(({ cells }) => promptText(facts.place(cells[0]?.rows[0] ?? 0), data));
  const [first = '', ...others] = texts;
  let length = others.length === 0 ? 0 : first.length;
  for (const text of others) while (!text.startsWith(first.slice(0, length))) length--;
  const shared = first.slice(0, first.lastIndexOf(' ', length) + 1);
  const beginning = shared.length < LONG_BEGINNING ? '' : shared;
  beginnings.set(facts, beginning);
  return beginning;
}

const withoutBeginning = (text: string, shared: string): string =>
  shared !== '' && text.startsWith(shared) && text.length > shared.length ? `…${text.slice(shared.length)}` : text;

/** `.25`, `1`, `-3`: with one column per step there is little room. */
const shortMean = (mean: number): string =>
  Number.isInteger(mean)
    ? String(mean)
    : meanText(mean)
        .replace(/^(-?)0\./, '$1.')
        .slice(0, 5);
