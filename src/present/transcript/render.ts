import { cellWidth } from '../../text/graphemes.ts';
import { expandTabs } from '../../text/wrap.ts';
import { piecesWidth, renderPieces } from '../line.ts';
import { type Style, styled, type Theme } from '../theme.ts';
import type { Mark } from './block.ts';
import { GUTTER, type Layout } from './layout.ts';

export interface TranscriptMarks {
  /** The turn that the cursor is on; its role line carries the sign. */
  turn: number | null;
}

/** The gutter: a bar beside trained text, and the sign of the turn that the cursor is on. */
function gutter(theme: Theme, trained: boolean, here: boolean): string {
  const bar = trained ? styled(theme, 'trained', '▌') : ' ';
  return bar + (here ? styled(theme, 'accent', '›') : ' ');
}

function renderRow(layout: Layout, row: number, theme: Theme, marks: TranscriptMarks): string {
  const { block, line, clipped } = layout.at(row);
  const { text, hang, start } = layout.text(row);
  const here = block.header === true && line === 0 && block.turn === marks.turn;
  const style: Style = clipped > 0 ? 'quiet' : block.style;
  const left = gutter(theme, block.trained, here) + ' '.repeat(block.indent + hang);
  const shown = expandTabs(text);
  const body =
    block.marks === undefined ? styled(theme, style, shown) : withMarks(block.marks, theme, style, text, start);
  if (block.right === undefined || block.right.length === 0 || line > 0) return left + body;
  const used = GUTTER + block.indent + hang + cellWidth(shown);
  const gap = Math.max(1, layout.width - used - piecesWidth(block.right));
  return left + body + ' '.repeat(gap) + renderPieces(theme, block.right, layout.width - used - gap);
}

/** A stretch of a block's text, its marks each in their own style. */
function withMarks(marks: readonly Mark[], theme: Theme, style: Style, text: string, start: number): string {
  let out = '';
  let at = 0;
  for (const mark of marks) {
    const from = Math.max(at, mark.start - start);
    const to = Math.min(text.length, mark.end - start);
    if (to <= from) continue;
    out += styled(theme, style, text.slice(at, from)) + styled(theme, mark.style, text.slice(from, to));
    at = to;
  }
  return out + styled(theme, style, text.slice(at));
}

/** The rows of a transcript from `from` on that fill `height`. */
export function renderTranscript(
  layout: Layout,
  from: number,
  height: number,
  theme: Theme,
  marks: TranscriptMarks,
): string[] {
  const lines: string[] = [];
  for (let row = from; row < Math.min(layout.rows, from + height); row++) {
    lines.push(renderRow(layout, row, theme, marks));
  }
  return lines;
}
