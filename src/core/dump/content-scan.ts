import type { FileHandle } from 'node:fs/promises';
import type { ReadContext } from '../formats/format.ts';
import type { Copy } from './containers/lines-in.ts';
import type { FileContent } from './file-content.ts';
import { LineIndex } from './line-index.ts';
import { countRollouts } from './parse-line.ts';
import { addUnendedLine, type LineScan, scanLines } from './scan-lines.ts';
import { type FileShape, fileShapeOf } from './shape.ts';

/** The part of a scan that can be continued in a later session on the same file. */
export interface ScanState extends LineScan {
  hasUnendedLine: boolean;
}

/** The records of one content of a file, as far as it was scanned. Each content of the file has its own scan. */
export class ContentScan {
  index = new LineIndex();
  shape: FileShape | null = null;
  /** The records copied out of a container; null if they are read in place. */
  readonly copy: Copy | null;
  readonly #content: FileContent;
  readonly #context: ReadContext;
  readonly #place: LineScan = { position: 0, lineStart: 0 };
  /** The last record is a line that has no newline yet. */
  #hasUnendedLine = false;
  /** For lines with several rollouts each: the lines themselves, and how many of them have been split. */
  #lines: LineIndex | null = null;
  #splitLines = 0;

  constructor(content: FileContent, context: ReadContext, copy: Copy | null = null) {
    this.#content = content;
    this.#context = context;
    this.copy = copy;
  }

  /** A kept scan of a file whose lines are records. */
  static of(content: FileContent, context: ReadContext, index: LineIndex, shape: FileShape, state: ScanState) {
    const scan = new ContentScan(content, context);
    scan.index = index;
    scan.shape = shape;
    scan.#place.position = state.position;
    scan.#place.lineStart = state.lineStart;
    scan.#hasUnendedLine = state.hasUnendedLine;
    return scan;
  }

  get state(): ScanState {
    return { ...this.#place, hasUnendedLine: this.#hasUnendedLine };
  }

  /** Bytes that were scanned. */
  get position(): number {
    return this.#place.position;
  }

  get hasUnendedLine(): boolean {
    return this.#hasUnendedLine;
  }

  /** A partial line was scanned, which is not a record. */
  get hasHeldBack(): boolean {
    return !this.#hasUnendedLine && this.#isWithinLine;
  }

  get #isWithinLine(): boolean {
    return this.#place.position > this.#place.lineStart;
  }

  /**
   * Scans what is there, and what a copy receives while it is filled.
   * @param shape from the container; null if the lines decide
   * @returns false if it was stopped
   */
  async goOn(handle: FileHandle, shape: FileShape | null, onProgress: (() => boolean) | undefined): Promise<boolean> {
    let isComplete = true;
    const fill = this.copy?.fill;
    for (let isFilled = fill === undefined; ; ) {
      if (!isFilled) isFilled = (await fill!.next()).done === true;
      if (!this.#knowsShape())
        this.shape = shape ?? fileShapeOf(this.#content.readablePath, this.#context, this.copy === null);
      await scanLines(handle, this.#target(), this.#place, this.#quickKeys(), () => {
        if (this.copy === null || this.shape?.kind !== 'split') isComplete = onProgress?.() ?? true;
        return isComplete;
      });
      this.#splitNew();
      isComplete = isComplete && (onProgress?.() ?? true);
      if (isFilled || !isComplete) return isComplete;
    }
  }

  /** Accepts a last line without its newline as a record. */
  async addUnendedLine(handle: FileHandle): Promise<void> {
    if (!this.#isWithinLine) return;
    const lines = this.#target();
    const count = lines.count;
    await addUnendedLine(handle, lines, this.#place, this.#quickKeys());
    this.#hasUnendedLine = lines.count > count;
    this.#splitNew();
  }

  /** The rest of the line may have arrived. */
  forgetUnendedLine(): void {
    this.#hasUnendedLine = false;
    const lines = this.#target();
    const last = lines.line(lines.count - 1);
    lines.truncate(lines.count - 1);
    if (lines === this.index) return;
    this.#splitLines = lines.count;
    let count = this.index.count;
    while (count > 0 && this.index.line(count - 1) === last) count--;
    this.index.truncate(count);
  }

  /** The first lines of a file that is being written may not exist yet. */
  #knowsShape(): boolean {
    return this.shape !== null && (this.shape.kind !== 'lines' || this.shape.isKnown || this.index.count > 0);
  }

  /** Lines are records, unless they contain several rollouts or the file contains none. */
  #target(): LineIndex {
    if (this.shape?.kind !== 'split' && this.shape?.kind !== 'none') return this.index;
    this.#lines ??= new LineIndex();
    return this.#lines;
  }

  #quickKeys(): { score: string; step: string } | null {
    return this.shape?.kind === 'lines' ? this.shape.quickKeys : null;
  }

  /** One record for each rollout of the new lines. */
  #splitNew(): void {
    if (this.shape?.kind !== 'split') return;
    const lines = this.#target();
    for (; this.#splitLines < lines.count; this.#splitLines++) {
      const at = this.#splitLines;
      const [offset, length, line] = [lines.offset(at), lines.length(at), lines.line(at)];
      const text = this.#content.line(offset, length);
      const count = typeof text === 'string' ? countRollouts(text, this.#context) : null;
      if (count === null || count === 0) this.index.addPart(offset, length, line, 0, undefined);
      else for (let part = 1; part <= count; part++) this.index.addPart(offset, length, line, part, undefined);
    }
  }
}
