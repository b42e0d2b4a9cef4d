import { uint8At } from '../../../core/lists/at.ts';
import { truncate } from '../../../core/text/fit.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { expandTabs, type Lines, lineAt, visibleRange } from '../../../core/text/wrap.ts';
import type { Block, Note } from './block.ts';

/** Cells between a line and a note at its edge, and the least of a note behind it that is worth showing. */
const NOTE_GAP = 2;
const NOTE_ROOM = 20;

export interface LaidNotes {
  /** By line, for notes that fit there. */
  beside: ReadonlyMap<number, Note>;
  /** Separate blocks, each after its line. */
  below: readonly { line: number; block: Block }[];
}

const NONE: LaidNotes = { beside: new Map(), below: [] };

/** Decides which notes of a block go beside their lines and which below; `room` in cells. */
export function layNotes(block: Block, lines: Lines, room: number): LaidNotes {
  if (block.notes === undefined) return NONE;
  const beside = new Map<number, Note>();
  const below: { line: number; block: Block }[] = [];
  for (const [i, note] of block.notes.entries()) {
    const line = lineAt(lines, note.at);
    const [start, end] = visibleRange(block.text, lines, line);
    // An unwrapped line may be a whole file.
    const isFull = end - start > room;
    const used = isFull ? room : cellWidth(expandTabs(block.text.slice(start, end))) + uint8At(lines.indents, line);
    const needs = note.place === 'edge' ? cellWidth(note.text) : Math.min(NOTE_ROOM, cellWidth(note.text));
    if (!beside.has(line) && used + NOTE_GAP + needs <= room) beside.set(line, note);
    else if (note.place !== 'spare') below.push({ line, block: noteBlock(block, note, i, room) });
  }
  return { beside, below };
}

/** A note that does not fit beside its line goes below it; a result's preview stays one line, because the result itself follows. */
const noteBlock = ({ id, turn, indent }: Block, note: Note, i: number, room: number): Block => ({
  id: `${id}.note${i}`,
  turn,
  text: note.place === 'behind' ? truncate(note.text, room) : `↑ ${note.text}`,
  style: note.style,
  trained: false,
  indent,
  ...(note.sign && { sign: note.style }),
});
