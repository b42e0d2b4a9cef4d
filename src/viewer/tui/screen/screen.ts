import { cellWidth } from '../../../core/text/graphemes.ts';
import { fitted, unstyled } from './fitted.ts';
import { type Frame, type Pane, paint, type Rect, sameRect } from './painter.ts';

/** A region of the screen; `lines` is called at most once per frame. */
export interface Region {
  id: string;
  rect: Rect;
  lines(): readonly string[];
}

/** Everything visible: the chrome, one string per row, and the regions painted over it. */
export interface ScreenPicture {
  chrome(): readonly string[];
  regions(): readonly Region[];
  /** Called once both were taken. @returns what is called once the terminal shows them */
  taken?(): () => void;
}

/** The terminal. `write` calls back when the bytes have left the program. */
export interface Sink {
  write(bytes: string, written: () => void): unknown;
}

/** More frames than one in this many milliseconds are invisible. */
const FRAME_MS = 16;

/**
 * The only writer to the terminal. Ink lays out the chrome, which is a few lines; the long panes are painted straight from the state: stock
 * Ink takes 23-26 ms for a whole frame at 200×49 on Node 20, while this takes well under two. Paints are coalesced, and none is made before
 * the terminal has taken the last frame, so frames that nobody could see are dropped.
 */
export class Screen {
  columns: number;
  rows: number;
  /** Frames sent so far. */
  frames = 0;

  readonly #output: Sink;
  readonly #picture: ScreenPicture;
  readonly #isStrict: boolean;
  #shown: Frame | null = null;
  #dirty = false;
  /** The regions that have changed, if no others have; null: all may have. */
  #only: Set<string> | null = new Set();
  #writing = false;
  #active = true;
  #lastPaint = Number.NEGATIVE_INFINITY;
  /** The next paint: in this tick, or a while after the last one. */
  #now: NodeJS.Immediate | null = null;
  #later: NodeJS.Timeout | null = null;

  /** @param isStrict a line wider than its region is an error, as in tests; otherwise it is cut */
  constructor(output: Sink, picture: ScreenPicture, size: { columns: number; rows: number }, isStrict: boolean) {
    this.#output = output;
    this.#picture = picture;
    this.columns = size.columns;
    this.rows = size.rows;
    this.#isStrict = isStrict;
  }

  /** A change is not painted yet, or the terminal has not taken it yet. */
  get isBusy(): boolean {
    return this.#writing || (this.#dirty && this.#active);
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.invalidate();
  }

  /** Forgets what the terminal shows: the next frame writes every row. */
  repaint(): void {
    this.#shown = null;
    this.invalidate();
  }

  /** While inactive (suspended, or an editor has the terminal) nothing is written. */
  setActive(active: boolean): void {
    this.#active = active;
    if (active) this.repaint();
  }

  /** Rings the terminal's bell, unless another program has the terminal. */
  bell(): void {
    if (this.#active) this.#output.write('\x07', () => {});
  }

  /**
   * Something changed: paint in this tick of the event loop, or 16 ms after the last paint. @param id only this region, or the `chrome`,
   * has changed
   */
  invalidate(id?: string): void {
    this.#dirty = true;
    if (id === undefined) this.#only = null;
    else this.#only?.add(id);
    this.#schedule();
  }

  /** Somebody waits for the next frame, however short ago the last one was. */
  hurry(): void {
    this.#lastPaint = Number.NEGATIVE_INFINITY;
    if (this.#later === null) return;
    clearTimeout(this.#later);
    this.#later = null;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#now !== null || this.#later !== null || this.#writing || !this.#active) return;
    const wait = this.#lastPaint + FRAME_MS - performance.now();
    if (wait <= 0) this.#now = setImmediate(this.#paint);
    else this.#later = setTimeout(this.#paint, wait);
  }

  readonly #paint = (): void => {
    this.#now = null;
    this.#later = null;
    if (!this.#dirty || !this.#active) return;
    this.#dirty = false;
    this.#lastPaint = performance.now();
    const frame = this.#compose();
    const shown = this.#picture.taken?.();
    const bytes = paint(this.#shown, frame);
    this.#shown = frame;
    if (bytes === '') {
      shown?.();
      return;
    }
    this.frames++;
    this.#writing = true;
    this.#output.write(bytes, () => {
      this.#writing = false;
      shown?.();
      if (this.#dirty) this.#schedule();
    });
  };

  #compose(): Frame {
    const only = this.#only;
    this.#only = new Set();
    const shown = this.#shown;
    const isKept = (id: string): boolean => shown !== null && only !== null && !only.has(id);
    const panes = this.#picture.regions().map(({ id, rect, lines }): Pane => {
      const before = shown?.panes.find((pane) => pane.id === id && sameRect(pane.rect, rect));
      if (before !== undefined && isKept(id)) return before;
      return { id, rect, lines: this.#fit(id, lines(), rect.width, before?.lines) };
    });
    const chrome = isKept('chrome')
      ? shown!.chrome
      : this.#fit('chrome', this.#picture.chrome(), this.columns, shown?.chrome);
    return { columns: this.columns, rows: this.rows, chrome, panes };
  }

  /** A line that is too wide would overdraw its neighbour. @param before lines that were already measured */
  #fit(id: string, lines: readonly string[], width: number, before?: readonly string[]): string[] {
    return lines.map((line, row) => {
      const cut = before?.[row] === line ? line : fitted(line, width);
      if (cut !== line && this.#isStrict)
        throw new Error(`line ${row} of ${id} takes ${cellWidth(unstyled(line))} cells of ${width}: ${line}`);
      return cut;
    });
  }
}
