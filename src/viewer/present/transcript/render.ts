import { itemAt, numberInAt } from '../../../core/lists/at.ts';
import { orTrained, type Trained } from '../../../core/rollout/loss-mask.ts';
import { fitLeft, truncate } from '../../../core/text/fit.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { expandTabs, takeTabbed } from '../../../core/text/wrap.ts';
import { type Piece, piecesWidth, renderPieces } from '../line.ts';
import { type Style, styled, type Theme } from '../theme.ts';
import type { Block, Range } from './block.ts';
import { GUTTER, type Layout } from './layout.ts';

export interface TranscriptMarks {
  /** The turn under the cursor; its role line has the sign. */
  turn: number | null;
  /** Hits of a search, by block. */
  hits?: ReadonlyMap<string, readonly Range[]>;
  /** Syntax colours of a block's code, as far as they are known. */
  syntax?: (block: Block) => readonly Range[];
  /** Cells scrolled off at the left, with wrap off. */
  left?: number;
}

/** The gutter: a bar beside trained text, a broken one if the mask is unknown, and the sign of the cursor's turn or of a finding. */
function gutter(theme: Theme, trained: Trained, here: boolean, finding: Style | undefined): string {
  const bar =
    trained === false ? ' ' : trained === null ? styled(theme, 'unknown', '╎') : styled(theme, 'trained', '▌');
  if (here) return bar + styled(theme, 'accent', '›');
  return bar + (finding === undefined ? ' ' : styled(theme, finding, '!'));
}

/** The ranges that overlap start..end, by binary search: a block of 1 MB may have thousands. */
function within(ranges: readonly Range[], start: number, end: number): readonly Range[] {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (itemAt(ranges, middle).end <= start) low = middle + 1;
    else high = middle;
  }
  let last = low;
  while (last < ranges.length && itemAt(ranges, last).start < end) last++;
  return ranges.slice(low, last);
}

function isTrained(block: Block, start: number, end: number): Trained {
  if (block.ranges?.some((range) => range.trained !== undefined) !== true) return block.trained;
  return within(block.ranges, start, Math.max(end, start + 1)).reduce<Trained>(
    (trained, range) => orTrained(trained, range.trained === undefined ? false : range.trained),
    false,
  );
}

/** Text that begins at `start` of its block, in the styles of its ranges, with search hits on top. */
function paint(
  theme: Theme,
  base: Style,
  text: string,
  start: number,
  ranges: readonly Range[],
  hits: readonly Range[],
) {
  const end = start + text.length;
  const cuts = new Set([start, end]);
  for (const range of [...ranges, ...hits]) {
    if (range.start > start) cuts.add(Math.min(range.start, end));
    if (range.end < end) cuts.add(Math.max(range.end, start));
  }
  const edges = [...cuts].sort((a, b) => a - b);
  let out = '';
  let column = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    const [from, to] = [numberInAt(edges, i), numberInAt(edges, i + 1)];
    const holds = (range: Range): boolean => range.start <= from && range.end >= to;
    const style = hits.find(holds)?.style ?? ranges.find(holds)?.style ?? base;
    const piece = expandTabs(text.slice(from - start, to - start), column);
    column += cellWidth(piece);
    out += styled(theme, style, piece);
  }
  return out;
}

const NONE: readonly Range[] = [];

function renderRow(layout: Layout, row: number, theme: Theme, marks: TranscriptMarks): string {
  const { block, line, clipped, note } = layout.at(row);
  let { text, start } = layout.text(row);
  const { hang } = layout.text(row);
  const here = block.header === true && line === 0 && block.turn === marks.turn;
  const trained = clipped > 0 ? block.trained : isTrained(block, start, start + text.length);
  const label = block.label !== undefined && line === 0 ? block.label : '';
  const indent = label === '' ? ' '.repeat(block.indent) : styled(theme, 'key', fitLeft(label, block.indent));
  const sign = line === 0 && block.sign !== undefined ? block.sign : note?.sign === true ? note.style : undefined;
  const left = gutter(theme, trained, here, sign) + indent + ' '.repeat(hang);
  if (clipped > 0) return left + styled(theme, 'quiet', text);
  const room = Math.max(1, layout.width - GUTTER - block.indent - hang);
  if (marks.left !== undefined) {
    const before = takeTabbed(text, marks.left).length;
    start += before;
    text = takeTabbed(text.slice(before), room);
  }
  const hits = within(marks.hits?.get(block.id) ?? NONE, start, start + text.length);
  const styles = block.ranges ?? (block.code === undefined ? NONE : (marks.syntax?.(block) ?? NONE));
  const body = paint(theme, block.style, text, start, within(styles, start, start + text.length), hits);
  const right: Piece[] = line === 0 ? [...(block.right ?? [])] : [];
  let used = GUTTER + block.indent + hang + cellWidth(expandTabs(text));
  let behind = '';
  if (note?.place === 'edge') right.unshift([note.style, note.text], ['plain', right.length > 0 ? '  ' : '']);
  else if (note !== undefined) {
    const said = truncate(note.text, layout.width - used - 2 - (right.length > 0 ? piecesWidth(right) + 2 : 0));
    behind = `  ${styled(theme, note.style, said)}`;
    used += 2 + cellWidth(said);
  }
  if (right.length === 0) return left + body + behind;
  const gap = Math.max(1, layout.width - used - piecesWidth(right));
  return left + body + behind + ' '.repeat(gap) + renderPieces(theme, right, layout.width - used - gap);
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
