import { cellWidth } from '../../text/graphemes.ts';
import { expandTabs } from '../../text/wrap.ts';
import { piecesWidth, renderPieces } from '../line.ts';
import { type Style, styled, type Theme } from '../theme.ts';
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
  const { text, hang } = layout.text(row);
  const here = block.header === true && line === 0 && block.turn === marks.turn;
  const style: Style = clipped > 0 ? 'quiet' : block.style;
  const left = gutter(theme, block.trained, here) + ' '.repeat(block.indent + hang);
  const shown = expandTabs(text);
  const body = styled(theme, style, shown);
  if (block.right === undefined || block.right.length === 0 || line > 0) return left + body;
  const used = GUTTER + block.indent + hang + cellWidth(shown);
  const gap = Math.max(1, layout.width - used - piecesWidth(block.right));
  return left + body + ' '.repeat(gap) + renderPieces(theme, block.right, layout.width - used - gap);
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
