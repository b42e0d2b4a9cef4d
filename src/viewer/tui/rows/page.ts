import type { Piece } from '../../present/line.ts';
import type { Cell, TableColumn } from '../../present/page-table.ts';
import type { Action } from '../state/action.ts';
import type { PageSort } from '../state/page.ts';

export interface PageRow {
  cells: readonly Cell[];
  /** The action of Enter, in the cursor's column. */
  open?: (column: number) => Action | null;
  /** The action of the toggle key. */
  toggle?: Action;
  /** Text shown about it while it is read as part of a queue. */
  says?: string;
}

/** Everything a page shows: a title line, column titles, rows. Texts are sanitised. */
export interface Page {
  title: string;
  /** Shown at the right of the title: how much is known. */
  note: string;
  /** Lines between the title and the table. */
  head?: readonly string[];
  /** A picture below these lines, which depends on the row under the cursor. */
  drawing?: { height: number; lines(row: number): readonly (readonly Piece[])[] };
  columns: readonly TableColumn[];
  /** The column whose text is shown in full below the rows, for the row under the cursor. */
  inFull?: number;
  length: number;
  row(index: number): PageRow;
  /** A stable name for a row while others come and go; absent if none do. */
  keyOf?(index: number): string;
  /** Shown if there are no rows. */
  empty: string;
  /** The action of the key that shows the page's other side. */
  other?: Action;
  /** The order of the rows, if a column was chosen or the page has a default. */
  sort: PageSort | null;
}

/** Lines below the rows, for a text in full, and the blank one above them. */
const BELOW = 4;
/** A lower page shows its rows alone. */
const LOW = 12;

/** Rows of a page that fit below its title, its head and its column titles. */
export function rowsOfPage({ head, drawing, inFull }: Page, height: number): number {
  const below = inFull === undefined || height < LOW ? 0 : BELOW;
  return Math.max(1, height - 2 - (head?.length ?? 0) - (drawing?.height ?? 0) - below);
}
