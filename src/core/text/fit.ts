import { numberInAt } from '../lists/at.ts';
import { cellWidth, graphemes } from './graphemes.ts';

/** The longest prefix of a text that takes at most `width` cells. */
export function take(text: string, width: number): string {
  if (text.length <= width && cellWidth(text) <= width) return text;
  let cells = 0;
  let end = 0;
  // A grapheme without width can only follow another one, so this much text is always enough to fill the width.
  const { ends, widths } = graphemes(text, 0, Math.min(text.length, 64 + width * 16));
  for (let i = 0; i < ends.length; i++) {
    cells += numberInAt(widths, i);
    if (cells > width) break;
    end = numberInAt(ends, i);
  }
  return text.slice(0, end);
}

/** At most `width` cells, with an ellipsis if the text is cut. */
export function truncate(text: string, width: number): string {
  if (text.length <= width && cellWidth(text) <= width) return text;
  const whole = take(text, width);
  if (whole.length === text.length) return text;
  return width < 1 ? '' : `${take(text, width - 1)}…`;
}

/** Cut at the front instead: the end of a path says more. */
export function truncateStart(text: string, width: number): string {
  if (cellWidth(text) <= width) return text;
  if (width < 1) return '';
  const { ends, widths } = graphemes(text);
  let cells = 1;
  let start = text.length;
  for (let i = ends.length - 1; i >= 0; i--) {
    cells += numberInAt(widths, i);
    if (cells > width) break;
    start = i === 0 ? 0 : numberInAt(ends, i - 1);
  }
  return `…${text.slice(start)}`;
}

/** Exactly `width` cells, cut or padded, left-aligned. */
export function fitLeft(text: string, width: number): string {
  const cut = truncate(text, width);
  return cut + ' '.repeat(Math.max(0, width - cellWidth(cut)));
}

/** Exactly `width` cells, right-aligned. */
export function fitRight(text: string, width: number): string {
  const cut = truncate(text, width);
  return ' '.repeat(Math.max(0, width - cellWidth(cut))) + cut;
}
