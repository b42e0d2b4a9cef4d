import { finished } from '../async/finished.ts';
import { numberInAt, uint32At } from '../lists/at.ts';
import { take } from './fit.ts';
import { cellWidth, eachGrapheme, graphemes } from './graphemes.ts';

/** Columns between tab stops, counted from the left edge of the text. */
const TAB = 4;
/** UTF-16 units laid out between two checks of the clock: about a millisecond of wide letters. */
const SLICE = 65_536;
/** UTF-16 units for each cell of a line: marks without end, which take no cell, are cut. */
const CELL_UNITS = 64;
/** The initial capacity in lines. */
const FEW = 4;

/**
 * A text laid out in lines for one width. Line i holds text.slice(starts[i], starts[i + 1]): concatenated, the lines
 * are the text, so nothing is lost and an offset finds its line. Newlines and the blanks at a break end their line and
 * are not shown. `indents[i]` blanks precede a line that continues the one above.
 */
export interface Lines {
  count: number;
  starts: Uint32Array;
  indents: Uint8Array;
}

const ASCII = /^[\x20-\x7e]*$/;
/** Indentation and a list item's mark: continuation lines align with the item's text. */
const HANG = /^ *(?:(?:[-*+•]|\d{1,3}[.)])(?: +))?/;
/** Closing marks do not begin a line, and opening marks do not end one (the short form of the CJK rules). */
const CLOSING = unitsOf('、。，．：；！？）」』】〉》〕｝’”…·,.!?;:)]}');
const OPENING = unitsOf('（「『【〈《〔｛‘“([{');

const BLANK = new Set([0x20, 0x09, 0x0a]);

function unitsOf(characters: string): ReadonlySet<number> {
  return new Set([...characters].map((character) => character.charCodeAt(0)));
}

/** Lines in arrays that grow by doubling, so that millions need no final copy. */
class Builder {
  #count = 0;
  #starts = new Uint32Array(FEW);
  #indents = new Uint8Array(FEW);

  add(start: number, indent: number): void {
    if (this.#count === this.#starts.length) this.#resize(2 * this.#count, this.#count);
    this.#starts[this.#count] = start;
    this.#indents[this.#count++] = indent;
  }

  lines(length: number): Lines {
    const count = this.#count;
    this.#resize(count + 1, count);
    this.#starts[count] = length;
    return { count, starts: this.#starts, indents: this.#indents };
  }

  #resize(size: number, filled: number): void {
    const [starts, indents] = [new Uint32Array(size), new Uint8Array(size)];
    starts.set(this.#starts.subarray(0, filled));
    indents.set(this.#indents.subarray(0, filled));
    this.#starts = starts;
    this.#indents = indents;
  }
}

function hangOf(paragraph: string, width: number): number {
  const hang = HANG.exec(paragraph.slice(0, width))![0].length;
  return hang > width / 2 || hang > 255 ? 0 : hang;
}

function* wrapAscii(out: Builder, text: string, start: number, end: number, width: number): Generator<void> {
  const hang = hangOf(text.slice(start, Math.min(end, start + width)), width);
  let at = start;
  let room = width;
  let paused = start;
  while (end - at > room) {
    // A blank may hang over the edge; a break is only useful after a word, not in the indentation.
    const blank = text.slice(at, at + room + 1).lastIndexOf(' ');
    let next = at + (blank > (at === start ? hang : 0) ? blank + 1 : room);
    while (next < end && text.charCodeAt(next) === 0x20) next++;
    if (next >= end) return;
    at = next;
    room = width - hang;
    out.add(at, hang);
    if (at - paused < SLICE) continue;
    paused = at;
    yield;
  }
}

function* wrapAny(out: Builder, text: string, start: number, end: number, width: number): Generator<void> {
  const hang = hangOf(text.slice(start, Math.min(end, start + width)), width);
  const most = CELL_UNITS * width;
  let room = width;
  let cells = 0;
  let lineStart = start;
  /** The last possible break: its offset, and the cells before it. */
  let breakAt = -1;
  let breakCells = 0;
  let previousWide = false;
  let from = start;
  const place = (to: number, graphemeWidth: number): void => {
    const first = text.charCodeAt(from);
    const blank = to - from === 1 && (first === 0x20 || first === 0x09);
    const wide = graphemeWidth > 1;
    const cell = first === 0x09 ? TAB - (cells % TAB) : graphemeWidth;
    if (
      (wide || previousWide) &&
      from > lineStart &&
      !blank &&
      !CLOSING.has(first) &&
      !OPENING.has(text.charCodeAt(from - 1))
    ) {
      breakAt = from;
      breakCells = cells;
    }
    if ((cells + cell > room && !blank) || to - lineStart > most) {
      // The word that moves down goes after the hanging indent; if it does not fit there, it is cut here instead.
      const moves = breakAt > lineStart && cells - breakCells + cell <= width - hang;
      const at = moves ? breakAt : from;
      const before = moves ? breakCells : cells;
      if (at > lineStart) {
        room = Math.max(1, width - hang);
        out.add(at, hang);
        lineStart = at;
        cells -= before;
        breakAt = -1;
      }
    }
    cells += cell;
    // A break is only useful after a word, not in the indentation.
    if (blank && to < end && (lineStart > start || to > start + hang)) {
      breakAt = to;
      breakCells = cells;
    }
    previousWide = wide;
    from = to;
  };
  for (let at = start; at < end; ) {
    at = eachGrapheme(text, at, end, place, SLICE);
    if (at < end) yield;
  }
}

/** Lays out sanitised text at `width` cells (Infinity: no wrapping), with pauses for long text. */
export function* wrapping(text: string, width: number): Generator<void, Lines> {
  const out = new Builder();
  const room = Math.max(1, width);
  let paused = 0;
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    out.add(start, 0);
    // No UTF-16 unit takes more cells than a tab.
    if (end - start > room / TAB) {
      if (!ASCII.test(text.slice(start, end))) {
        if (room !== Infinity) yield* wrapAny(out, text, start, end, room);
      } else if (end - start > room) yield* wrapAscii(out, text, start, end, room);
    }
    if (newline === -1) break;
    start = end + 1;
    if (start - paused < SLICE) continue;
    paused = start;
    yield;
  }
  return out.lines(text.length);
}

export function wrap(text: string, width: number): Lines {
  return finished(wrapping(text, width));
}

/** The lines of a text, as wide as fits. */
export function wrappedLines(text: string, width: number): string[] {
  const lines = wrap(text, width);
  return Array.from({ length: lines.count }, (_, i) => text.slice(...visibleRange(text, lines, i)));
}

/** The number of the line that contains an offset. */
export function lineAt(lines: Lines, offset: number): number {
  let low = 0;
  let high = lines.count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (uint32At(lines.starts, middle) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The visible part of line i, as offsets: without its newline and trailing blanks, which may hang over the edge. */
export function visibleRange(text: string, lines: Lines, i: number): [start: number, end: number] {
  const start = uint32At(lines.starts, i);
  let end = uint32At(lines.starts, i + 1);
  while (end > start && BLANK.has(text.charCodeAt(end - 1))) end--;
  return [start, end];
}

/** Expands tabs in a text that starts at `column` of its line. */
export function expandTabs(text: string, column = 0): string {
  if (!text.includes('\t')) return text;
  let cells = column;
  return text
    .split('\t')
    .map((piece, i, all) => {
      cells += cellWidth(piece);
      if (i === all.length - 1) return piece;
      const blanks = TAB - (cells % TAB);
      cells += blanks;
      return piece + ' '.repeat(blanks);
    })
    .join('');
}

/** The longest prefix of a line that takes at most `width` cells with tabs expanded. */
export function takeTabbed(text: string, width: number): string {
  if (!text.includes('\t')) return take(text, width);
  let cells = 0;
  let end = 0;
  // Cells have few units, so limit the search: a line may be 45 MB long.
  const { ends, widths } = graphemes(text, 0, Math.min(text.length, 64 + width * 16));
  for (const [i, own] of widths.entries()) {
    cells += text.charCodeAt(numberInAt(ends, i) - 1) === 0x09 ? TAB - (cells % TAB) : own;
    if (cells > width) break;
    end = numberInAt(ends, i);
  }
  return text.slice(0, end);
}
