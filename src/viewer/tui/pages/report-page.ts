import {
  type CellValue,
  type ColumnType,
  endsRight,
  isPlace,
  plainValue,
  type Report,
  type ReportColumn,
  type RolloutPlace,
  sentencesOf,
  shownColumns,
} from '../../../analysis/report/report.ts';
import { truncateStart } from '../../../core/text/fit.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Piece } from '../../present/line.ts';
import type { Cell, TableColumn } from '../../present/page-table.ts';
import { cellText } from '../../present/report/cell-text.ts';
import type { Page, PageRow } from '../rows/page.ts';
import { placeName } from '../rows/place-name.ts';
import type { Action } from '../state/action.ts';
import type { PageSort } from '../state/page.ts';

const WIDTHS: Record<ColumnType, number> = {
  text: 12,
  number: 7,
  count: 6,
  share: 6,
  score: 6,
  mean: 6,
  change: 7,
  chance: 6,
  advantage: 8,
  step: 5,
  turn: 6,
  seconds: 11,
  rollout: 14,
  prompt: 18,
  curve: 16,
  bar: 24,
  tally: 9,
};

interface ReportPageParts<Row> {
  sort: PageSort | null;
  /** How much is known. */
  note: string;
  /** The default order of the rows. */
  order?: PageSort;
  /** Lines about keys. */
  head?: readonly string[];
  /** An excerpt of a prompt; read only for visible rows. */
  promptOf?(place: RolloutPlace): string;
  /** A picture above the table. */
  drawing?: { height: number; lines(row: Row): readonly (readonly Piece[])[] };
  /** Cells that the screen draws in a special way, by column key. */
  drawn?: { [key: string]: (row: Row) => Cell };
  /** Widths that depend on the screen, by column key. */
  widths?: { [key: string]: number };
  /** @param key of the column under the cursor */
  open?(row: Row, key: string): ReturnType<NonNullable<PageRow['open']>>;
  says?(row: Row): string;
  /** The key of the column whose text is shown in full below the rows. */
  inFull?: string;
  /** Identifies a row, so that the cursor stays on it when others come and go. */
  keyOf?(row: Row): string;
  /** The action of the key that toggles the row. */
  toggle?(row: Row): Action | undefined;
  /** The action of the key that shows the page's other side. */
  other?: Action;
}

/** A report as a page on the screen. */
export function reportPage<Row>(report: Report<Row>, parts: ReportPageParts<Row>): Page {
  const { sort, order, open, says, toggle, keyOf } = parts;
  const columns = shownColumns(report);
  const sorted = sort === null ? undefined : columns[sort.column];
  const by = (sorted === undefined ? null : sort) ?? order ?? null;
  const rows =
    sort === null || sorted === undefined
      ? report.rows
      : byColumn(report.rows, (row) => orderOf(sorted.value(row)), sort.descending);
  const rowAt = (index: number): Row => {
    const row = rows[index];
    if (row === undefined) throw new RangeError(`a page of ${rows.length} rows has no row ${index}`);
    return row;
  };
  const toggleOf = (row: Row): Pick<PageRow, 'toggle'> => {
    const action = toggle?.(row);
    return action === undefined ? {} : { toggle: action };
  };
  return {
    title: sanitiseLine(report.title),
    note: parts.note,
    head: [...(parts.head ?? []), ...sentencesOf(report)].map(sanitiseLine),
    ...(parts.drawing === undefined || rows.length === 0
      ? {}
      : {
          drawing: { height: parts.drawing.height, lines: (index: number) => parts.drawing?.lines(rowAt(index)) ?? [] },
        }),
    columns: columns.map((column) => tableColumn(column, parts.widths?.[column.key])),
    ...(parts.inFull === undefined ? {} : { inFull: columns.findIndex(({ key }) => key === parts.inFull) }),
    length: rows.length,
    ...(keyOf === undefined ? {} : { keyOf: (index: number) => keyOf(rowAt(index)) }),
    empty: report.empty,
    sort: by,
    ...(parts.other === undefined ? {} : { other: parts.other }),
    row: (index) => {
      const row = rowAt(index);
      return {
        cells: columns.map((column) => cellOf(column, row, parts)),
        ...(open === undefined ? {} : { open: (column: number) => open(row, columns[column]?.key ?? '') }),
        ...(says === undefined ? {} : { says: says(row) }),
        ...toggleOf(row),
      };
    },
  };
}

function tableColumn<Row>(column: ReportColumn<Row>, width: number | undefined): TableColumn {
  return {
    title: column.title,
    width: Math.max(column.title.length, width ?? column.width ?? WIDTHS[column.type]),
    ...(endsRight(column) ? {} : { isText: true }),
    ...(column.grows === true ? { grows: true } : {}),
    ...(column.identifies === true ? { isFixed: true } : {}),
  };
}

function cellOf<Row>({ key, type, value }: ReportColumn<Row>, row: Row, parts: ReportPageParts<Row>): Cell {
  const drawn = parts.drawn?.[key];
  if (drawn !== undefined) return drawn(row);
  const cell = value(row);
  if (isPlace(cell))
    return type === 'prompt' ? sanitiseLine(parts.promptOf?.(cell) ?? placeName(cell)) : placeCell(cell);
  const text = cellText(cell, type);
  return text === '' && typeof cell !== 'boolean' && endsRight({ type }) ? '–' : sanitiseLine(text);
}

/** Folders give way to the line. */
export const placeCell = (place: RolloutPlace): string => truncateStart(sanitiseLine(placeName(place)), WIDTHS.rollout);

function orderOf(value: CellValue): number | string | null {
  const plain = plainValue(value);
  if (typeof plain === 'boolean') return Number(plain);
  return typeof plain === 'object' && plain !== null ? (plain[0] ?? null) : plain;
}

/** Rows sorted by the values of a column, those without a value last; the sort is stable. */
function byColumn<Row>(
  rows: readonly Row[],
  valueIn: (row: Row) => number | string | null,
  descending: boolean,
): Row[] {
  const keyed = rows.map((row) => ({ row, value: valueIn(row) }));
  const isNone = (value: number | string | null): value is null => value === null || Number.isNaN(value);
  keyed.sort(({ value: a }, { value: b }) => {
    if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b));
    const order = a < b ? -1 : a > b ? 1 : 0;
    return descending ? -order : order;
  });
  return keyed.map(({ row }) => row);
}
