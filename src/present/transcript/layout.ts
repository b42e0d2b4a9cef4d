import { cellWidth } from '../../text/graphemes.ts';
import { type Lines, lineAt, visibleRange, wrap } from '../../text/wrap.ts';
import { formatCount } from '../numbers.ts';
import type { Block } from './block.ts';

/** Cells of the gutter: the bar of trained text, and a blank. */
export const GUTTER = 2;
/** A block of more lines than both together shows its head and its tail: a traceback says what went wrong at its end. */
export const CLIP_HEAD = 24;
export const CLIP_TAIL = 16;

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
}

/** A part that folds, by the id that the reader's choice is kept under. */
export interface Fold {
  id: string;
  turn: number | null;
  closed: boolean;
}

interface Placed {
  block: Block;
  lines: Lines;
  /** First row in the transcript. */
  row: number;
  /** Rows that it takes. */
  rows: number;
}

/** Blocks laid out for one width: which row is where. Rows are found by binary search, none is built before it is seen. */
export class Layout {
  readonly width: number;
  readonly rows: number;
  readonly #placed: Placed[] = [];
  readonly #byId = new Map<string, Placed>();
  readonly #turnRows: { turn: number; row: number }[] = [];
  readonly folds: readonly Fold[];

  /** `opened`: blocks that are shown whole although they are long. */
  constructor(
    blocks: readonly Block[],
    width: number,
    opened: ReadonlyMap<string, boolean> = new Map(),
    wrapped = true,
  ) {
    this.width = width;
    const folds: Fold[] = [];
    let row = 0;
    for (const block of blocks) {
      const right = block.right?.reduce((sum, [, text]) => sum + cellWidth(text) + 1, 0) ?? 0;
      const room = Math.max(4, width - GUTTER - block.indent - right);
      const lines = wrap(block.text, wrapped ? room : Number.POSITIVE_INFINITY);
      const long = block.clip === true && isLong(lines.count);
      const clipped = long && opened.get(`${block.id}.clip`) !== false;
      if (block.fold !== undefined) folds.push({ id: block.id, turn: block.turn, closed: block.fold === 'closed' });
      if (long) folds.push({ id: `${block.id}.clip`, turn: block.turn, closed: clipped });
      const placed = { block, lines, row, rows: clipped ? CLIP_HEAD + 1 + CLIP_TAIL : lines.count };
      this.#placed.push(placed);
      if (!this.#byId.has(block.id)) this.#byId.set(block.id, placed);
      if (block.header) this.#turnRows.push({ turn: block.turn!, row });
      row += placed.rows;
    }
    this.rows = row;
    this.folds = folds;
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
    const { block, lines, row: first, rows } = this.#placedAt(row);
    const line = row - first;
    const clipped = lines.count - rows + 1;
    if (rows === lines.count || line < CLIP_HEAD) return { block, line, clipped: 0 };
    if (line === CLIP_HEAD) return { block, line, clipped };
    return { block, line: line + clipped - 1, clipped: 0 };
  }

  /** The shown text of a row, without gutter and indent, and where it stands in the block's text. */
  text(row: number): { text: string; start: number; hang: number } {
    const { block, line, clipped } = this.at(row);
    if (clipped > 0) return { text: `⋯ ${formatCount(clipped)} more lines`, start: -1, hang: 0 };
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
      const placed = this.#byId.get(id);
      if (placed === undefined) continue;
      if (id !== anchor.block) return placed.row;
      const line = lineAt(placed.lines, anchor.offset);
      const hidden = placed.lines.count - placed.rows;
      if (hidden === 0 || line < CLIP_HEAD) return placed.row + line;
      return placed.row + Math.max(CLIP_HEAD, line - hidden);
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

  /** UTF-16 units held by this layout, for caches bounded by bytes. */
  get size(): number {
    return this.#placed.reduce((sum, { block, lines }) => sum + block.text.length + lines.starts.byteLength + 200, 200);
  }
}

const isLong = (lines: number): boolean => lines > (CLIP_HEAD + CLIP_TAIL) * 2;
