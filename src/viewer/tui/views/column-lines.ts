import { cellWidth } from '../../../core/text/graphemes.ts';
import { type Piece, renderPieces } from '../../present/line.ts';
import type { Theme } from '../../present/theme.ts';
import { unstyled } from '../screen/fitted.ts';

/** The width of each of several columns side by side, in cells. */
export const columnWidth = (width: number, columns: number): number => Math.floor(width / Math.max(1, columns));

/** Entries in columns side by side, one after the other. @returns `height` lines of at most `width` cells */
export function columnLines(
  entries: readonly (readonly Piece[])[],
  columns: number,
  height: number,
  theme: Theme,
  width: number,
): string[] {
  const cells = columnWidth(width, columns);
  const cell = (pieces: readonly Piece[]): string => {
    const text = renderPieces(theme, pieces, cells);
    return text + ' '.repeat(cells - cellWidth(unstyled(text)));
  };
  return Array.from({ length: height }, (_, row) =>
    Array.from({ length: columns }, (_, column) => cell(entries[column * height + row] ?? [])).join(''),
  );
}
