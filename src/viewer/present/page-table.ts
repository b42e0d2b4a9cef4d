import { itemAt } from '../../core/lists/at.ts';
import { fitLeft, fitRight } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { type Piece, piecesWidth, renderPieces } from './line.ts';
import { styled, type Theme } from './theme.ts';

export interface TableColumn {
  title: string;
  /** Its width in cells. */
  width: number;
  /** Texts are left-aligned; numbers are aligned with each other. */
  isText?: true;
  /** Takes the remaining width. */
  grows?: true;
  /** Stays visible while the others scroll; fixed columns come first. */
  isFixed?: true;
}

/** Sanitised text, or pieces of it. */
export type Cell = string | readonly Piece[];

interface PlacedTableColumn {
  index: number;
  width: number;
}

const GAP = 2;
const widthOf = (placed: readonly PlacedTableColumn[]): number =>
  placed.reduce((sum, { width }) => sum + width + GAP, 0);

/** The columns that fit, including the cursor's. */
export function placeColumns(columns: readonly TableColumn[], cursor: number, width: number): PlacedTableColumn[] {
  const all = columns.map((column, index) => ({ index, width: Math.min(column.width, width - GAP) }));
  const fixed = all.filter(({ index }) => itemAt(columns, index).isFixed === true);
  const others = all.filter(({ index }) => itemAt(columns, index).isFixed !== true);
  const at = others.findIndex(({ index }) => index === cursor);
  let from = 0;
  while (from < at && widthOf(fixed) + widthOf(others.slice(from, at + 1)) > width) from++;
  const shown = [...fixed];
  for (const column of others.slice(from)) {
    if (shown.length > 0 && widthOf(shown) + column.width + GAP > width) break;
    shown.push(column);
  }
  const left = width - widthOf(shown);
  const growing = shown.find(({ index }) => itemAt(columns, index).grows === true);
  return left <= 0 ? shown : shown.map((one) => (one === growing ? { ...one, width: one.width + left } : one));
}

/** The titles: the cursor's column has its sign underlined, the sorted one an arrow. */
export function renderTableHead(
  columns: readonly TableColumn[],
  placed: readonly PlacedTableColumn[],
  {
    cursor,
    sort,
    theme,
    width,
  }: { cursor: number; sort: { column: number; descending: boolean } | null; theme: Theme; width: number },
): string {
  const pieces = placed.flatMap(({ index, width: room }): Piece[] => {
    const { title, isText } = itemAt(columns, index);
    const arrow = sort?.column === index ? (sort.descending ? '▼' : '▲') : '';
    const text = (isText === true ? fitLeft : fitRight)(title + arrow, room);
    return [
      ['quiet', '  '],
      [index === cursor ? 'heading' : 'quiet', text],
    ];
  });
  const last = placed.at(-1)?.index ?? 0;
  const isMore = last < columns.length - 1;
  const line = renderPieces(theme, pieces, isMore ? width - 2 : width);
  return isMore
    ? `${line}${' '.repeat(Math.max(0, width - 2 - piecesWidth(pieces)))} ${styled(theme, 'quiet', '›')}`
    : line;
}

/** A row of cells. The cursor's row has a sign and its cell another style, so that nothing depends on colour alone. */
export function renderTableRow(
  cells: readonly Cell[],
  columns: readonly TableColumn[],
  placed: readonly PlacedTableColumn[],
  { isHere, cursor, theme, width }: { isHere: boolean; cursor: number; theme: Theme; width: number },
): string {
  const pieces = placed.flatMap(({ index, width: room }, i): Piece[] => {
    const sign: Piece = isHere && i === 0 ? ['accent', '› '] : ['plain', isHere && index === cursor ? ' [' : '  '];
    const fitted = fitCell(cells[index] ?? '', room, columns[index]?.isText === true);
    return [
      sign,
      ...(isHere ? fitted.map(([style, text]): Piece => [style === 'plain' ? 'strong' : style, text]) : fitted),
    ];
  });
  return renderPieces(theme, pieces, width);
}

/** Exactly `width` cells. */
function fitCell(cell: Cell, width: number, isText: boolean): readonly Piece[] {
  if (typeof cell === 'string') return [['plain', (isText ? fitLeft : fitRight)(cell, width)]];
  const blanks: Piece = ['plain', ' '.repeat(Math.max(0, width - piecesWidth(cell)))];
  if (blanks[1] === '' && piecesWidth(cell) > width) return cutPieces(cell, width);
  return isText ? [...cell, blanks] : [blanks, ...cell];
}

function cutPieces(pieces: readonly Piece[], width: number): Piece[] {
  let room = width;
  const cut: Piece[] = [];
  for (const [style, text] of pieces) {
    const fits = fitLeft(text, Math.min(room, cellWidth(text)));
    cut.push([style, fits]);
    room -= cellWidth(fits);
    if (room <= 0) break;
  }
  return cut;
}
