import { itemAt } from '../../../core/lists/at.ts';
import { cellWidth, graphemes } from '../../../core/text/graphemes.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Buffer } from '../state/editor.ts';

/** A piece of a line that takes one screen row: UTF-16 units `start` to `end`. */
export interface EditorRow {
  line: number;
  start: number;
  end: number;
}

const TAB = '    ';
const ASCII = /^[\x20-\x7e]*$/;

/** A character of the text as the screen shows it. */
export const shown = (character: string): string => (character === '\t' ? TAB : sanitiseLine(character));

const widthOf = (text: string): number =>
  ASCII.test(text) ? text.length : [...charactersOf(text)].reduce((sum, { width }) => sum + width, 0);

export function* charactersOf(text: string): Generator<{ text: string; start: number; width: number }> {
  let start = 0;
  for (const end of graphemes(text).ends) {
    const character = text.slice(start, end);
    yield { text: character, start, width: cellWidth(shown(character)) };
    start = end;
  }
}

/** Rows of at most `width` cells; the last cell stays free for a cursor at the end. Lines break at the cell, as suits code. */
export function editorRows(lines: readonly string[], width: number): EditorRow[] {
  const room = Math.max(1, width - 1);
  const rows: EditorRow[] = [];
  for (const [line, text] of lines.entries()) {
    if (ASCII.test(text)) {
      for (let start = 0; start === 0 || start < text.length; start += room)
        rows.push({ line, start, end: Math.min(text.length, start + room) });
      continue;
    }
    let from = 0;
    let cells = 0;
    for (const { start, width: own } of charactersOf(text)) {
      if (cells + own > room && start > from) {
        rows.push({ line, start: from, end: start });
        from = start;
        cells = 0;
      }
      cells += own;
    }
    rows.push({ line, start: from, end: text.length });
  }
  return rows;
}

/** The cursor's row, and its cell in it. */
export function cursorOf(rows: readonly EditorRow[], { lines, row, column }: Buffer): { row: number; cell: number } {
  const at = rows.findLastIndex(({ line, start }) => line === row && start <= column);
  const { start } = itemAt(rows, at);
  return { row: at, cell: widthOf(itemAt(lines, row).slice(start, column)) };
}

/** The buffer with its cursor `by` rows further down, as near to a cell as that row allows. */
export function moveRows(buffer: Buffer, rows: readonly EditorRow[], by: number, cell: number): Buffer {
  const from = cursorOf(rows, buffer).row;
  const at = Math.max(0, Math.min(rows.length - 1, from + by));
  if (at === from) return buffer;
  const { line, start, end } = itemAt(rows, at);
  const isBroken = rows[at + 1]?.line === line;
  let column = start;
  let cells = 0;
  for (const { text, width } of charactersOf(itemAt(buffer.lines, line).slice(start, end))) {
    // The end of a row that continues is the start of the next one.
    if (cells + width > cell || (isBroken && column + text.length === end)) break;
    cells += width;
    column += text.length;
  }
  return { ...buffer, row: line, column };
}
