import { fitLeft, fitRight, truncate, truncateStart } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';

/** Text columns are never narrower than this. */
const NARROWEST = 12;
const GAP = 2;

/**
 * Aligned cells, the header first; an empty one is a dash. Texts are cut to fit the width, numbers never.
 * @param isRight whether a column is right-aligned
 * @param width of a line in cells
 * @param keepsEnd whether the end of a column's texts says most, as that of a path does
 */
export function textTable(
  lines: readonly (readonly string[])[],
  isRight: (column: number) => boolean,
  width = Number.POSITIVE_INFINITY,
  keepsEnd: (column: number) => boolean = () => false,
): string[] {
  const cells = lines.map((line, i) => line.map((cell) => (cell === '' && i > 0 ? '–' : sanitiseLine(cell))));
  const widths = fittedWidths(
    (cells[0] ?? []).map((_, column) => cells.reduce((most, line) => Math.max(most, cellWidth(line[column] ?? '')), 0)),
    isRight,
    width,
  );
  return cells.map((line) => {
    const text = line
      .map((cell, column) => {
        const room = widths[column] ?? 0;
        return (isRight(column) ? fitRight : fitLeft)(keepsEnd(column) ? truncateStart(cell, room) : cell, room);
      })
      .join(' '.repeat(GAP))
      .trimEnd();
    return width === Number.POSITIVE_INFINITY ? text : truncate(text, width);
  });
}

/** The widest text column shrinks first. */
function fittedWidths(wanted: readonly number[], isRight: (column: number) => boolean, width: number): number[] {
  const widths = [...wanted];
  for (;;) {
    const over = widths.reduce((sum, own) => sum + own + GAP, -GAP) - width;
    const texts = [...widths.keys()].filter((column) => !isRight(column) && (widths[column] ?? 0) > NARROWEST);
    if (!(over > 0) || texts.length === 0) return widths;
    const widest = texts.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a));
    const next = Math.max(NARROWEST, ...texts.filter((one) => one !== widest).map((one) => widths[one] ?? 0));
    const own = widths[widest] ?? 0;
    widths[widest] = Math.max(NARROWEST, Math.min(own - 1, Math.max(own - over, Math.min(next, own - 1))));
  }
}

/** A CSV cell (RFC 4180). A spreadsheet takes text that begins with one of = + - @ for a formula, so an apostrophe keeps it text. */
export function csvCell(cell: string): string {
  if (ORDINARY.test(cell)) return cell;
  const safe = /^[=+\-@\t\r]/.test(cell) && !isNumeric(cell) ? `'${cell}` : cell;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Nothing to quote, and no formula. */
const ORDINARY = /^(?:[^=+\-@\t\r",\n][^",\n\r]*)?$/;

const isNumeric = (cell: string): boolean =>
  /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(cell) || cell === '-inf';
