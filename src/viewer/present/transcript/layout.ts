import { finished } from '../../../core/async/finished.ts';
import { itemAt, numberInAt, uint8At, uint32At } from '../../../core/lists/at.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { plural } from '../../../core/text/numbers.ts';
import { type Lines, lineAt, visibleRange, wrap, wrapping } from '../../../core/text/wrap.ts';
import type { Style } from '../theme.ts';
import type { Block, Note } from './block.ts';
import { isLong, keptLines } from './clip.ts';
import { layNotes } from './notes.ts';
import { PAUSE, type PartOrPause, type Section } from './section.ts';

/** Cells of the gutter: the bar of trained text, and a space. */
export const GUTTER = 2;
/** The longest line of prose. */
const MEASURE = 110;
/** UTF-16 units laid out in one step, and the weight of a block without text. */
const SHARE_UNITS = 65_536;
const BLOCK_UNITS = 200;
/** UTF-16 units from which known lines are reused rather than wrapped again: wrapping 17 million of Chinese takes 3 s. */
const WORTH_KEEPING = 10_000;

/**
 * UTF-16 units of a long rollout that may be laid out to find a position, until `more` goes on; and those that a pause counts as, within a
 * long block and elsewhere.
 */
const UNITS_AHEAD = 4 * SHARE_UNITS;
const WRAPPED_UNITS = SHARE_UNITS / 2;
const PAUSE_UNITS = 4096;

/** A position in a transcript that survives changes of width and folds. */
export interface Anchor {
  block: string;
  /** UTF-16 offset into the block's text. */
  offset: number;
}

/** A row of the layout: line `line` of block `block`, or a row that says how many lines are clipped. */
export interface Row {
  block: Block;
  line: number;
  /** Lines that this row replaces; 0 for a row of text. */
  clipped: number;
  /** Remarks beside this line. */
  note: Note | undefined;
}

/** A foldable part, by the id that the reader's choice is stored under. */
export interface Fold {
  id: string;
  turn: number | null;
  closed: boolean;
}

/** Consecutive lines of a block: a note below a line, or a clip, splits it. */
interface BlockLines {
  block: Block;
  lines: Lines;
  /** The first line. */
  first: number;
  /** First row in its section. */
  row: number;
  /** Number of rows. */
  rows: number;
  /** Lines that its one row replaces, 0 if it shows them. */
  clipped: number;
  /** Notes that fit beside their lines. */
  notes: ReadonlyMap<number, Note>;
  /** The continuation of the same block. */
  next: BlockLines | null;
}

/** Bytes of a section that is laid out again in a millisecond. */
const SMALL = 32_768;
/** Sections laid out again that are kept: as many as a screen shows, and some around them. */
const MOST_AGAIN = 256;

/** A section laid out: its rows count from its own start, so that it can be reused as it is. */
interface LaidSection {
  section: Section;
  rows: number;
  /** null: laid out again when it is shown. Blocks and lines of 100,000 turns take half a gigabyte. */
  placed: BlockLines[] | null;
  turnRows: { turn: number; row: number }[];
  folds: Fold[];
  bytes: number;
}

interface FoundBlock {
  /** First row of its section. */
  start: number;
  placed: BlockLines;
}

/** A section that is being laid out. */
type Laying = LaidSection & { placed: BlockLines[] };

/**
 * Sections laid out for one width: maps rows to content. Rows are found by binary search and built only when visible. A long rollout is
 * laid out from the top in several steps, and is readable as far as it has come.
 */
export class Layout {
  readonly width: number;
  rows = 0;
  readonly folds: Fold[] = [];
  /** All sections are laid out. */
  isWhole = false;
  /** The next section has not arrived yet. */
  isWaiting = false;
  /** The approximate size of this layout in bytes, for bounded caches. */
  size = 200;
  readonly #laid: LaidSection[] = [];
  readonly #starts: number[] = [];
  /** Indices in `#laid`. */
  readonly #bySection = new Map<string, number>();
  readonly #byId = new Map<string, FoundBlock>();
  readonly #again = new Map<LaidSection, readonly BlockLines[]>();
  readonly #turnRows: { turn: number; row: number }[] = [];
  readonly #rowsByTurn = new Map<number, number>();
  readonly #rest: Iterator<PartOrPause<Section> | null>;
  /** The section that is being laid out. */
  #laying: Generator<void, LaidSection> | null = null;
  readonly #isLong: boolean;
  /** UTF-16 units laid out since the last pause, and those left to find a position. */
  #units = 0;
  #ahead = UNITS_AHEAD;
  readonly #opened: ReadonlyMap<string, boolean>;
  readonly #wrapped: boolean;
  #before: Layout | null;

  /**
   * @param opened blocks that are shown whole although they are long
   * @param before a layout whose sections and lines are reused if they fit
   * @param isEnough pauses the layout of a long rollout; `more` continues it
   */
  constructor(
    sections: Iterable<PartOrPause<Section> | null>,
    width: number,
    opened: ReadonlyMap<string, boolean> = new Map(),
    wrapped = true,
    before: Layout | null = null,
    isEnough?: () => boolean,
  ) {
    this.width = width;
    this.#isLong = isEnough !== undefined;
    this.#wrapped = wrapped;
    this.#opened = opened;
    this.#before = before;
    this.#rest = sections[Symbol.iterator]();
    this.more(isEnough ?? (() => false));
  }

  /** Continues the layout in steps of a few ms, until it is enough or the next section has not arrived yet. */
  more(isEnough: () => boolean): void {
    this.#ahead = UNITS_AHEAD;
    this.#units = 0;
    this.#goOn(isEnough);
  }

  #goOn(isEnough: () => boolean): void {
    while (!this.isWhole) {
      if (this.#laying === null) {
        const { done, value } = this.#rest.next();
        this.isWaiting = value === null;
        if (value === null) return;
        if (done === true) {
          this.isWhole = true;
          this.#before = null;
          return;
        }
        if (value === PAUSE) {
          if (isEnough()) return;
          continue;
        }
        this.#laying = this.#taking(value);
      }
      const step = this.#laying.next();
      if (step.done === true) {
        this.#laying = null;
        this.#append(step.value);
      }
      if (isEnough()) return;
    }
  }

  *#taking(section: Section): Generator<void, LaidSection> {
    const before = this.#before;
    const same = before === null ? undefined : before.#same(section, this);
    if (same !== undefined) return same;
    const laid = yield* this.#lay(section);
    return this.#isLong && isLaidAgain(laid) ? { ...laid, placed: null } : laid;
  }

  /** A section as laid out here, if `other` would lay it out the same way. */
  #same({ id, key, source }: Section, other: Layout): LaidSection | undefined {
    const laid = this.#laid[this.#bySection.get(id) ?? -1];
    const isSame = laid !== undefined && key !== null && laid.section.key === key && laid.section.source === source;
    return isSame && this.width === other.width && this.#wrapped === other.#wrapped ? laid : undefined;
  }

  #append(laid: LaidSection): void {
    const start = this.rows;
    this.#bySection.set(laid.section.id, this.#laid.length);
    this.#laid.push(laid);
    this.#starts.push(start);
    for (const placed of laid.placed ?? [])
      if (!this.#byId.has(placed.block.id)) this.#byId.set(placed.block.id, { start, placed });
    for (const { turn, row } of laid.turnRows) {
      this.#turnRows.push({ turn, row: start + row });
      if (!this.#rowsByTurn.has(turn)) this.#rowsByTurn.set(turn, start + row);
    }
    for (const fold of laid.folds) this.folds.push(fold);
    this.rows += laid.rows;
    this.size += laid.bytes;
  }

  *#lay(section: Section): Generator<void, Laying> {
    const laid: Laying = { section, rows: 0, placed: [], turnRows: [], folds: [], bytes: 0 };
    let units = 0;
    for (const one of section.blocks()) {
      if (one === PAUSE) {
        // A step towards a long block, which may take some ms.
        this.#units += WRAPPED_UNITS;
        yield;
        continue;
      }
      for (const block of this.#apart(one)) {
        yield* this.#layBlock(laid, block);
        units += block.text.length + BLOCK_UNITS;
        this.#units += block.text.length + BLOCK_UNITS;
        if (units < SHARE_UNITS) continue;
        units = 0;
        yield;
      }
    }
    return laid;
  }

  *#layBlock(laid: Laying, block: Block): Generator<void> {
    const room = this.#wrapped ? this.#room(block) : Number.POSITIVE_INFINITY;
    const before = this.#before;
    const lines = (before === null ? null : before.#linesOf(block, room)) ?? (yield* this.#wrapping(block.text, room));
    const long = block.clip === true && isLong(lines.count);
    const clipped = long && this.#opened.get(`${block.id}.clip`) !== false;
    if (block.fold !== undefined) laid.folds.push({ id: block.id, turn: block.turn, closed: block.fold === 'closed' });
    if (long) laid.folds.push({ id: `${block.id}.clip`, turn: block.turn, closed: clipped });
    if (block.header) laid.turnRows.push({ turn: block.turn!, row: laid.rows });
    const placed = laid.placed.length;
    this.#place(laid, block, lines, clipped);
    laid.bytes += 300 * (laid.placed.length - placed);
    laid.bytes += block.text.length * 2 + lines.starts.byteLength + lines.indents.byteLength;
    laid.bytes += (block.ranges?.length ?? 0) * 60;
  }

  *#wrapping(text: string, room: number): Generator<void, Lines> {
    const work = wrapping(text, room);
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      this.#units += WRAPPED_UNITS;
      yield;
    }
  }

  /** The lines of a long text that is already laid out: only a fold around it has changed. */
  #linesOf(block: Block, room: number): Lines | null {
    if (block.text.length < WORTH_KEEPING) return null;
    const placed = this.#byId.get(block.id)?.placed;
    if (placed === undefined || placed.block.text !== block.text) return null;
    return room === (this.#wrapped ? this.#room(placed.block) : Number.POSITIVE_INFINITY) ? placed.lines : null;
  }

  /** If a header and the text at its right edge do not both fit, the header would break within words, so that text gets the next line. */
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

  /** The width for the text of a block. */
  #room({ indent, right, isProse }: Block): number {
    const edge = right?.reduce((sum, [, text]) => sum + cellWidth(text) + 1, 0) ?? 0;
    const room = Math.max(4, this.width - GUTTER - indent - edge);
    return isProse ? Math.min(MEASURE, room) : room;
  }

  #place(laid: Laying, block: Block, lines: Lines, clipped: boolean): void {
    const { beside, below } = layNotes(block, lines, this.#room(block));
    let last: BlockLines | null = null;
    const add = (first: number, count: number, hidden: number): void => {
      const placed: BlockLines = {
        block,
        lines,
        first,
        row: laid.rows,
        rows: count,
        clipped: hidden,
        notes: beside,
        next: null,
      };
      if (last !== null) last.next = placed;
      last = placed;
      laid.placed.push(placed);
      laid.rows += count;
    };
    /** Places lines from..to, with the notes below each. */
    const show = (from: number, to: number): void => {
      let first = from;
      for (const { line, block: note } of below) {
        if (line < from || line >= to) continue;
        if (line >= first) add(first, line + 1 - first, 0);
        first = line + 1;
        this.#place(laid, note, wrap(note.text, this.#room(note)), false);
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

  #placedAt(row: number): FoundBlock {
    const at = lastNotAfter(this.#starts.length, (i) => numberInAt(this.#starts, i) <= row);
    const start = numberInAt(this.#starts, at);
    const placed = this.#placedIn(itemAt(this.#laid, at));
    return {
      start,
      placed: itemAt(
        placed,
        lastNotAfter(placed.length, (i) => start + itemAt(placed, i).row <= row),
      ),
    };
  }

  #placedIn(laid: LaidSection): readonly BlockLines[] {
    const known = laid.placed ?? this.#again.get(laid);
    if (known !== undefined) return known;
    const { placed } = finished(this.#lay(laid.section));
    const [oldest] = this.#again.keys();
    if (this.#again.size >= MOST_AGAIN && oldest !== undefined) this.#again.delete(oldest);
    this.#again.set(laid, placed);
    return placed;
  }

  /** A block as far as it was laid out. */
  #known(id: string): FoundBlock | undefined {
    const known = this.#byId.get(id);
    const at = known === undefined ? this.#bySection.get(sectionOf(id)) : undefined;
    const laid = at === undefined ? undefined : this.#laid[at];
    if (at === undefined || laid === undefined || laid.placed !== null) return known;
    const placed = this.#placedIn(laid).find(({ block }) => block.id === id);
    return placed === undefined ? undefined : { start: numberInAt(this.#starts, at), placed };
  }

  at(row: number): Row {
    const { start, placed } = this.#placedAt(row);
    const { block, first, clipped, notes } = placed;
    const line = first + row - start - placed.row;
    return { block, line, clipped, note: clipped > 0 ? undefined : notes.get(line) };
  }

  /** The shown text of a row, without gutter and indent, and its offset in the block's text. */
  text(row: number): { text: string; start: number; hang: number } {
    const { block, line, clipped } = this.at(row);
    if (clipped > 0) return { text: `⋯ ${plural(clipped, 'more line')}`, start: -1, hang: 0 };
    const { lines } = this.#placedAt(row).placed;
    const [start, end] = visibleRange(block.text, lines, line);
    return { text: block.text.slice(start, end), start, hang: uint8At(lines.indents, line) };
  }

  anchor(row: number): Anchor {
    if (this.rows === 0) return { block: '', offset: 0 };
    const clamped = Math.max(0, Math.min(row, this.rows - 1));
    const { block, line } = this.at(clamped);
    return { block: block.id, offset: uint32At(this.#placedAt(clamped).placed.lines.starts, line) };
  }

  /** The row that shows an anchor; if its block is folded away, the nearest enclosing part. */
  row(anchor: Anchor): number {
    for (let id = anchor.block; id !== ''; id = id.slice(0, Math.max(0, id.lastIndexOf('.')))) {
      const found = this.#found(id);
      if (found === undefined) continue;
      let { placed } = found;
      if (id !== anchor.block) return found.start + placed.row;
      const line = lineAt(placed.lines, anchor.offset);
      while (placed.next !== null && placed.next.first <= line) placed = placed.next;
      return found.start + placed.row + Math.min(line - placed.first, placed.rows - 1);
    }
    return 0;
  }

  has(block: string): boolean {
    return this.#found(block) !== undefined;
  }

  /** Lays out as far as required. For a long rollout it gives up early; later frames get closer to the position. */
  #until(isThere: () => boolean): void {
    if (this.isWhole || isThere()) return;
    if (!this.#isLong) this.#goOn(isThere);
    else if (this.#ahead > 0)
      this.#goOn(() => {
        this.#ahead -= PAUSE_UNITS + this.#units;
        this.#units = 0;
        return isThere() || this.#ahead <= 0;
      });
  }

  #found(block: string): FoundBlock | undefined {
    this.#until(() => this.#known(block) !== undefined);
    return this.#known(block);
  }

  /** The anchor's own row; null if it is folded or clipped away. */
  exactRow(anchor: Anchor): number | null {
    if (!this.has(anchor.block)) return null;
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

  /** The number of the last turn, -1 if absent. */
  get lastTurn(): number {
    return this.#turnRows.at(-1)?.turn ?? -1;
  }

  /** The first row of a turn. */
  rowOfTurn(turn: number): number {
    this.#until(() => (this.#turnRows.at(-1)?.turn ?? -1) >= turn);
    const at = this.#rowsByTurn.get(turn);
    return at ?? this.#turnRows.at(-1)?.row ?? 0;
  }

  /** The turn that a row belongs to; rows after the last turn belong to it; null if there are no turns. */
  turnAt(row: number): number | null {
    const turns = this.#turnRows;
    return turns[lastNotAfter(turns.length, (i) => itemAt(turns, i).row <= row)]?.turn ?? null;
  }

  /** The first row of a turn with a finding's sign in that style; null if absent. */
  findingRow(turn: number, style: Style): number | null {
    const last = this.turnAt(this.rows - 1) === turn ? this.rows : this.rowOfTurn(turn + 1);
    for (let row = this.rowOfTurn(turn); row < last; row++) {
      const { block, line, note } = this.at(row);
      if (note?.sign === true && note.style === style) return row;
      if (line === 0 && block.sign === style) return row;
    }
    return null;
  }
}

/** The section of a block, by the block's id. */
const sectionOf = (block: string): string => block.split('.', 1).join();

/** Small ones that make their blocks anew, and whose blocks are found by their ids. */
const isLaidAgain = ({ section, bytes, placed }: Laying): boolean =>
  section.isMadeAnew === true && bytes < SMALL && placed.every(({ block }) => sectionOf(block.id) === section.id);

/** The index of the last of `count` items for which `holds` is true, given that it is true for a prefix; 0 if it is true for none. */
function lastNotAfter(count: number, holds: (i: number) => boolean): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
