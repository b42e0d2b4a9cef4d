import { truncate } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { wrap } from '../../core/text/wrap.ts';
import { type Style, styled, type Theme } from './theme.ts';

/** A piece of a line in one style, already sanitised. */
export type Piece = readonly [style: Style, text: string];

export const piecesWidth = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, [, text]) => sum + cellWidth(text), 0);

/** Pieces side by side in at most `width` cells; the piece that does not fit is cut with an ellipsis. */
export function renderPieces(theme: Theme, pieces: readonly Piece[], width: number): string {
  let room = width;
  let out = '';
  for (const [style, text] of pieces) {
    if (room <= 0) break;
    const cut = truncate(text, room);
    out += styled(theme, style, cut);
    room -= cellWidth(cut);
    if (cut !== text) break;
  }
  return out;
}

/** Pieces over lines of at most `width` cells, broken between words. The last of `most` lines holds the rest. */
export function wrapPieces(pieces: readonly Piece[], width: number, most: number): Piece[][] {
  const text = pieces.map(([, part]) => part).join('');
  const { count, starts, indents } = wrap(text, width);
  return Array.from({ length: Math.min(count, most) }, (_, i) => {
    const indent: Piece[] = indents[i] ? [['plain', ' '.repeat(indents[i])]] : [];
    const start = starts[i] ?? 0;
    const line = text.slice(start, i === most - 1 ? text.length : starts[i + 1]);
    return [...indent, ...slicePieces(pieces, start, start + line.trimEnd().length)];
  });
}

/** The part of pieces between two offsets in their text. */
function slicePieces(pieces: readonly Piece[], start: number, end: number): Piece[] {
  let at = 0;
  return pieces.flatMap(([style, text]) => {
    const part = text.slice(Math.max(0, start - at), Math.max(0, end - at));
    at += text.length;
    return part === '' ? [] : [[style, part] as const];
  });
}

/** A line with something at each edge. The right side stays whole; the left one is cut. */
export interface Edges {
  left: readonly Piece[];
  right: readonly Piece[];
}

export function renderEdges(theme: Theme, left: readonly Piece[], right: readonly Piece[], width: number): string {
  const rightWidth = piecesWidth(right);
  if (rightWidth === 0 || rightWidth > width) return renderPieces(theme, left, width);
  const room = Math.max(0, width - rightWidth - 1);
  const gap = Math.max(0, room - piecesWidth(left)) + Math.min(1, width - rightWidth);
  return renderPieces(theme, left, room) + ' '.repeat(gap) + renderPieces(theme, right, rightWidth);
}
