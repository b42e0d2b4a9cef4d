import { cellWidth } from '../../text/graphemes.ts';
import { type Lines, lineAt, visibleRange, wrap } from '../../text/wrap.ts';
import { plural } from '../numbers.ts';
import type { Style } from '../theme.ts';
import type { Block, Note } from './block.ts';
import { isLong, keptLines } from './clip.ts';
import { layNotes } from './notes.ts';

/** Cells of the gutter: the bar of trained text, and a blank. */
export const GUTTER = 2;
/** UTF-16 units from which a text is not wrapped again where its lines are known: 17 million of Chinese take 3 s. */
const WORTH_KEEPING = 10_000;

/** A place in a transcript that stays where it is when the width or a fold changes. */
export interface Anchor {
  block: string;
  /** UTF-16 offset into the block's text. */
  offset: number;
}

/** A row of the layout: line `line` of block `block`, or where lines are clipped away, a row that says how many. */
export interface Row {
  block: Block;
  line: number;
  /** Lines that this row stands in for; 0 for a row of text. */
  clipped: number;
  /** Remarks beside this line. */
  note: Note | undefined;
}

/** A part that folds, by the id that the reader's choice is kept under. */
export interface Fold {
  id: string;
  turn: number | null;
  closed: boolean;
}

/** Lines of a block that stand together: a note below one of them, or a clip, parts it. */
interface Placed {
  block: Block;
  lines: Lines;
  /** The first line. */
  first: number;
  /** First row in the transcript. */
  row: number;
  /** Rows that it takes. */
  rows: number;
  /** Lines that its one row stands in for, 0 where it shows them. */
  clipped: number;
  /** Notes that have room beside their lines. */
  notes: ReadonlyMap<number, Note>;
  /** The line on which the same block goes on. */
  next: Placed | null;
}

/** Blocks laid out for one width: which row is where. Rows are found by binary search, none is built before it is seen. */
export class Layout {
  readonly width: number;
  rows = 0;
  readonly #placed: Placed[] = [];
  readonly #byId = new Map<string, Placed>();
  readonly #turnRows: { turn: number; row: number }[] = [];
  readonly folds: readonly Fold[];

  readonly #wrapped: boolean;

  /** `opened`: blocks that are shown whole although they are long; `before`: a layout whose lines are taken over where they fit. */
  constructor(
    blocks: readonly Block[],
    width: number,
    opened: ReadonlyMap<string, boolean> = new Map(),
    wrapped = true,
    before?: Layout,
  ) {
    this.width = width;
    this.#wrapped = wrapped;
    const folds: Fold[] = [];
    for (const block of blocks.flatMap((one) => this.#apart(one))) {
      const room = wrapped ? this.#room(block) : Number.POSITIVE_INFINITY;
      const lines = (before === undefined ? null : before.#linesOf(block, room)) ?? wrap(block.text, room);
      const long = block.clip === true && isLong(lines.count);
      const clipped = long && opened.get(`${block.id}.clip`) !== false;
      if (block.fold !== undefined) folds.push({ id: block.id, turn: block.turn, closed: block.fold === 'closed' });
      if (long) folds.push({ id: `${block.id}.clip`, turn: block.turn, closed: clipped });
      if (block.header) this.#turnRows.push({ turn: block.turn!, row: this.rows });
      this.#place(block, lines, clipped);
    }
    this.folds = folds;
  }

  /** The lines of a long text that stands here already: only a fold has changed around it. */
  #linesOf(block: Block, room: number): Lines | null {
    if (block.text.length < WORTH_KEEPING) return null;
    const placed = this.#byId.get(block.id);
    if (placed === undefined || placed.block.text !== block.text) return null;
    return room === (this.#wrapped ? this.#room(placed.block) : Number.POSITIVE_INFINITY) ? placed.lines : null;
  }

  /** A header that has no room beside what stands at its right edge would break within words: that has the next line. */
  #apart(block: Block): readonly Block[] {
    const { header, right, ...rest } = block;
    if (header !== true || right === undefined || right.length === 0) return [block];
    if (cellWidth(block.text) <= this.#room(block) || cellWidth(block.text) > this.#room(rest)) return [block];
    return [
      { ...rest, header },
      {
        id: `${block.id}.right`,
        turn: block.turn,
        text: '',
        style: block.style,
        trained: false,
        indent: block.indent,
        right,
      },
    ];
  }

  /** Cells for the text of a block. */
  #room({ indent, right }: Block): number {
    const edge = right?.reduce((sum, [, text]) => sum + cellWidth(text) + 1, 0) ?? 0;
    return Math.max(4, this.width - GUTTER - indent - edge);
  }

  #place(block: Block, lines: Lines, clipped: boolean): void {
    const { beside, below } = layNotes(block, lines, this.#room(block));
    let last: Placed | null = null;
    const add = (first: number, count: number, hidden: number): void => {
      const placed: Placed = {
        block,
        lines,
        first,
        row: this.rows,
        rows: count,
        clipped: hidden,
        notes: beside,
        next: null,
      };
      if (last === null) {
        if (!this.#byId.has(block.id)) this.#byId.set(block.id, placed);
      } else last.next = placed;
      last = placed;
      this.#placed.push(placed);
      this.rows += count;
    };
    /** Lines from..to, each with what is said below it. */
    const show = (from: number, to: number): void => {
      let first = from;
      for (const { line, block: note } of below) {
        if (line < from || line >= to) continue;
        if (line >= first) add(first, line + 1 - first, 0);
        first = line + 1;
        this.#place(note, wrap(note.text, this.#room(note)), false);
      }
      if (first < to) add(first, to - first, 0);
    };
    let at = 0;
    const kept: [from: number, to: number][] = clipped ? keptLines(block, lines) : [[0, lines.count]];
    for (const [from, to] of kept) {
      if (from > at) add(at, 1, from - at);
      show(from, to);
      at = to;
    }
  }

  #placedAt(row: number): Placed {
    let low = 0;
    let high = this.#placed.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#placed[middle]!.row <= row) low = middle;
      else high = middle - 1;
    }
    return this.#placed[low]!;
  }

  at(row: number): Row {
    const { block, row: start, first, clipped, notes } = this.#placedAt(row);
    const line = first + row - start;
    return { block, line, clipped, note: clipped > 0 ? undefined : notes.get(line) };
  }

  /** The shown text of a row, without gutter and indent, and where it stands in the block's text. */
  text(row: number): { text: string; start: number; hang: number } {
    const { block, line, clipped } = this.at(row);
    if (clipped > 0) return { text: `⋯ ${plural(clipped, 'more line')}`, start: -1, hang: 0 };
    const { lines } = this.#placedAt(row);
    const [start, end] = visibleRange(block.text, lines, line);
    return { text: block.text.slice(start, end), start, hang: lines.indents[line]! };
  }

  anchor(row: number): Anchor {
    if (this.#placed.length === 0) return { block: '', offset: 0 };
    const clamped = Math.max(0, Math.min(row, this.rows - 1));
    const { block, line } = this.at(clamped);
    return { block: block.id, offset: this.#placedAt(clamped).lines.starts[line]! };
  }

  /** The row that shows an anchor; where its block is folded away, the nearest part that holds it. */
  row(anchor: Anchor): number {
    for (let id = anchor.block; id !== ''; id = id.slice(0, Math.max(0, id.lastIndexOf('.')))) {
      let placed = this.#byId.get(id);
      if (placed === undefined) continue;
      if (id !== anchor.block) return placed.row;
      const line = lineAt(placed.lines, anchor.offset);
      while (placed.next !== null && placed.next.first <= line) placed = placed.next;
      return placed.row + Math.min(line - placed.first, placed.rows - 1);
    }
    return 0;
  }

  has(block: string): boolean {
    return this.#byId.has(block);
  }

  /** The anchor's own row; null where it is folded or clipped away. */
  exactRow(anchor: Anchor): number | null {
    if (!this.#byId.has(anchor.block)) return null;
    const row = this.row(anchor);
    const { start, text } = this.text(row);
    const shown = this.at(row);
    return shown.block.id === anchor.block &&
      shown.clipped === 0 &&
      anchor.offset >= start &&
      anchor.offset <= start + text.length
      ? row
      : null;
  }

  get turns(): number {
    return this.#turnRows.length;
  }

  /** The number of the last turn, -1 without any. */
  get lastTurn(): number {
    return this.#turnRows.at(-1)?.turn ?? -1;
  }

  /** The first row of a turn. */
  rowOfTurn(turn: number): number {
    return this.#turnRows.find((entry) => entry.turn === turn)?.row ?? this.#turnRows.at(-1)?.row ?? 0;
  }

  /** The turn that a row belongs to; what follows the last turn counts to it, null without turns. */
  turnAt(row: number): number | null {
    let found: number | null = this.#turnRows[0]?.turn ?? null;
    for (const entry of this.#turnRows) {
      if (entry.row > row) break;
      found = entry.turn;
    }
    return found;
  }

  /** The first row of a turn with the sign of a finding in that style; null without one. */
  findingRow(turn: number, style: Style): number | null {
    const last = this.turnAt(this.rows - 1) === turn ? this.rows : this.rowOfTurn(turn + 1);
    for (let row = this.rowOfTurn(turn); row < last; row++) {
      const { block, line, note } = this.at(row);
      if (note?.sign === true && note.style === style) return row;
      if (line === 0 && block.sign === style) return row;
    }
    return null;
  }

  /** About how many bytes this layout holds, for caches that are bounded by them. */
  get size(): number {
    let bytes = 200;
    for (const { block, lines, first } of this.#placed) {
      bytes += 300;
      if (first > 0) continue;
      bytes += block.text.length * 2 + lines.starts.byteLength + lines.indents.byteLength;
      bytes += (block.ranges?.length ?? 0) * 60;
    }
    return bytes;
  }
}
