import { Writable } from 'node:stream';
import { type Frame, type Pane, paint, type Rect } from './painter.ts';

/** What fills a region: at most `height` lines of at most `width` cells. Asked at most once a frame. */
export type LineProvider = (width: number, height: number) => readonly string[];

/** Where the bytes go. `write` calls back when they have left the program. */
export interface Output {
  write(bytes: string, written: () => void): unknown;
}

/** One frame in this many milliseconds is all that anybody sees. */
const FRAME_MS = 16;

/**
 * The one writer to the terminal. Ink lays out and draws the chrome (with `debug: true` it hands over whole frames);
 * regions are filled by line providers, straight from the state, without a React commit: stock Ink takes 23-26 ms a
 * frame at 200×49 on Node 20, this way a frame takes well under one. Paints are coalesced, and while the terminal has
 * not taken the last frame none is made, so that frames which nobody could see are dropped.
 */
export class Screen extends Writable {
  /** Ink hides the cursor and asks for terminal features on a TTY; those are this screen's own business. */
  readonly isTTY = false;
  columns: number;
  rows: number;
  /** Frames sent so far. */
  frames = 0;

  readonly #output: Output;
  readonly #regions = new Map<string, Rect>();
  readonly #providers = new Map<string, LineProvider>();
  #chrome: string[] = [];
  #shown: Frame | null = null;
  #dirty = false;
  /** The regions that have changed, where no others have; null: all may have. */
  #only: Set<string> | null = new Set();
  #writing = false;
  #active = true;
  #lastPaint = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | NodeJS.Immediate | null = null;

  constructor(output: Output, columns: number, rows: number) {
    super({ decodeStrings: false });
    this.#output = output;
    this.columns = columns;
    this.rows = rows;
  }

  override _write(chunk: string | Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chrome = chunk.toString().split('\n');
    this.invalidate();
    done();
  }

  resize(columns: number, rows: number): void {
    this.columns = columns;
    this.rows = rows;
    this.invalidate();
  }

  /** Says what fills the region of that name, wherever the layout puts it. */
  provide(id: string, provider: LineProvider): void {
    this.#providers.set(id, provider);
  }

  /** Called by <Region> after each layout; null when it is gone. */
  place(id: string, rect: Rect | null): void {
    if (rect === null) this.#regions.delete(id);
    else this.#regions.set(id, rect);
    this.invalidate();
  }

  /** Forgets what the terminal shows: the next frame writes every row. */
  repaint(): void {
    this.#shown = null;
    this.invalidate();
  }

  /** While inactive (suspended, an editor has the terminal) nothing is written. */
  setActive(active: boolean): void {
    this.#active = active;
    if (active) this.repaint();
  }

  /** The terminal's bell; whoever has the terminal now is left in peace. */
  bell(): void {
    if (this.#active) this.#output.write('\x07', () => {});
  }

  /** Something changed: paint in this tick of the event loop, or 16 ms after the last paint. @param id only this region has */
  invalidate(id?: string): void {
    this.#dirty = true;
    if (id === undefined) this.#only = null;
    else this.#only?.add(id);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#timer !== null || this.#writing || !this.#active) return;
    const wait = this.#lastPaint + FRAME_MS - performance.now();
    this.#timer = wait <= 0 ? setImmediate(this.#paint) : setTimeout(this.#paint, wait);
  }

  readonly #paint = (): void => {
    this.#timer = null;
    if (!this.#dirty || !this.#active) return;
    this.#dirty = false;
    this.#lastPaint = performance.now();
    const frame = this.#compose();
    const bytes = paint(this.#shown, frame);
    this.#shown = frame;
    if (bytes === '') return;
    this.frames++;
    this.#writing = true;
    this.#output.write(bytes, () => {
      this.#writing = false;
      if (this.#dirty) this.#schedule();
    });
  };

  #compose(): Frame {
    const panes: Pane[] = [];
    const only = this.#only;
    this.#only = new Set();
    for (const [id, rect] of this.#regions) {
      const provider = this.#providers.get(id);
      if (provider === undefined || rect.width <= 0 || rect.height <= 0) continue;
      const shown = only === null || only.has(id) ? undefined : this.#shown?.panes.find((pane) => pane.id === id);
      if (shown !== undefined && shown.rect === rect) {
        panes.push(shown);
        continue;
      }
      panes.push({ id, rect, lines: provider(rect.width, rect.height) });
    }
    return { columns: this.columns, rows: this.rows, chrome: this.#chrome, panes };
  }
}
