import { float64At, itemAt, numberInAt, uint32At } from '../lists/at.ts';
import type { Check } from '../rollout/checks.ts';
import { Facts } from '../rollout/fact-row.ts';
import { FileFacts } from './file-facts.ts';
import { NumberColumn } from './number-column.ts';
import type { RecordFacts } from './record-facts.ts';
import type { QuickValue } from './tail-keys.ts';

/**
 * The place of each record of a file, and what is known of it without reading it again: 12 bytes per record and its score, plus the
 * columns of its facts. Records are counted from 0; blank lines are not records, but count as physical lines. A line
 * with several rollouts is as many records.
 */
export class LineIndex {
  #count = 0;
  // Nothing at first, then few: of ten thousand files of a store, each is one row until somebody looks at it.
  #offsets = NO_NUMBERS;
  /** Byte length in 30 bits, score state in 2. */
  #lengths = NO_LENGTHS;
  readonly #scores: NumberColumn;
  /** Made once there are some: they take more than all else of a file without records. */
  #columns: FileFacts | null = null;
  /** They are those of other files, too. */
  #isShared = false;
  /** The step of all records so far until one differs; then one per record. */
  #step: number | null = null;
  #steps: Float64Array | null = null;
  /** For each blank line, the number of records before it. Ascending. */
  #blanks: number[] = [];
  /**
   * Only for lines with several rollouts, or none: each record's physical line, and its number there from 1 (0 = it has
   * the line to itself).
   */
  #lines: Uint32Array | null = null;
  #parts: Uint32Array | null = null;

  /** @param scores kept ones */
  constructor(scores = new NumberColumn()) {
    this.#scores = scores;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of examined records, whose facts are known. */
  get looked(): number {
    return this.#columns?.looked ?? 0;
  }

  /** The facts of all records, by column. Nothing is added to them. */
  get columns(): FileFacts {
    noFacts ??= new FileFacts();
    return this.#columns ?? noFacts;
  }

  /** The same, for facts that are found now. */
  get ownColumns(): FileFacts {
    const own = this.#columns === null || this.#isShared ? new FileFacts() : this.#columns;
    this.takeColumns(own);
    return own;
  }

  /** Appends a record. @param length bytes, below 2^30 */
  add(offset: number, length: number, score: QuickValue, step: QuickValue): void {
    this.#addPlace(offset, length, step ?? null);
    this.#setScore(this.#count - 1, score);
  }

  #addPlace(offset: number, length: number, step: number | null): void {
    const at = this.#count;
    if (at === this.#offsets.length) this.#grow();
    this.#offsets[at] = offset;
    this.#lengths[at] = Math.min(length, MAX_LENGTH);
    this.#count++;
    this.#setStep(at, step);
  }

  /** Appends one of the rollouts of a line. @param line from 1 @param part from 1, 0 if the line holds only this one */
  addPart(offset: number, length: number, line: number, part: number, score: QuickValue): void {
    this.#lines ??= new Uint32Array(this.#offsets.length);
    this.#parts ??= new Uint32Array(this.#offsets.length);
    this.add(offset, length, score, null);
    this.#lines[this.#count - 1] = line;
    this.#parts[this.#count - 1] = part;
  }

  /** The record's number in its line, from 1; 0 if it has the line to itself. */
  part(record: number): number {
    return this.#parts?.[record] ?? 0;
  }

  addBlank(): void {
    this.#blanks.push(this.#count);
  }

  /** Drops the records from `count` on, so that a changed end can be read again. */
  truncate(count: number): void {
    if (this.#isShared) this.#columns = null;
    else this.#columns?.truncate(count);
    this.#count = Math.min(count, this.#count);
    this.#scores.truncate(this.#count);
    while ((this.#blanks.at(-1) ?? 0) > this.#count) this.#blanks.pop();
  }

  offset(record: number): number {
    return this.#offsets[record] ?? 0;
  }

  /** Bytes of the line, without its newline. */
  length(record: number): number {
    return (this.#lengths[record] ?? 0) & MAX_LENGTH;
  }

  /** Physical line, from 1. */
  line(record: number): number {
    if (this.#lines !== null) return this.#lines[record] ?? 0;
    let low = 0;
    let high = this.#blanks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numberInAt(this.#blanks, middle) <= record) low = middle + 1;
      else high = middle;
    }
    return record + 1 + low;
  }

  /**
   * The record on a physical line; -1 for a blank line or beyond the end. @param part number on the
   * line, from 1; 0 = the first
   */
  recordAtLine(line: number, part = 0): number {
    if (this.#lines !== null) {
      const lines = this.#lines.subarray(0, this.#count);
      const first = lines.indexOf(line);
      if (first === -1 || part === 0) return first;
      return lines.findIndex((one, record) => one === line && Math.max(1, this.part(record)) === part);
    }
    if (part > 1) return -1;
    let record = Math.max(0, line - 1 - this.#blanks.length);
    while (record < this.#count && this.line(record) < line) record++;
    return record < this.#count && this.line(record) === line ? record : -1;
  }

  /** A parse overrides what was read from the line's tail. */
  score(record: number): QuickValue {
    if (this.isLooked(record)) return this.columns.score(record);
    const state = (this.#lengths[record] ?? 0) >>> 30;
    return state === KNOWN ? this.#scores.at(record) : state === NONE ? null : undefined;
  }

  #setScore(record: number, score: QuickValue): void {
    this.#setState(record, score === undefined ? UNKNOWN : score === null ? NONE : KNOWN);
    this.#scores.set(record, score ?? 0);
  }

  #setState(record: number, state: number): void {
    this.#lengths[record] = ((uint32At(this.#lengths, record) & MAX_LENGTH) | (state << 30)) >>> 0;
  }

  step(record: number): number | null {
    if (this.#steps === null) return this.#step;
    const step = float64At(this.#steps, record);
    return Number.isNaN(step) ? null : step;
  }

  /** undefined if not examined. */
  facts(record: number): Facts | undefined {
    return this.isLooked(record) ? new Facts(this.columns.row(record)) : undefined;
  }

  /**
   * The value of one fact, without allocating: NaN if the rollout does not have it, or was not examined. @param at its
   * index in FACTS
   */
  factNumber(record: number, at: number): number {
    return this.#columns === null ? Number.NaN : itemAt(this.#columns.rows, at).at(record);
  }

  isLooked(record: number): boolean {
    return record < this.#count && this.#columns?.isLooked(record) === true;
  }

  /** Whether some examined record has one of these findings. */
  hasAny(checks: readonly Check[]): boolean {
    return this.#columns?.hasAny(checks) ?? false;
  }

  setFacts(record: number, facts: RecordFacts): void {
    this.ownColumns.set(record, facts);
  }

  /** Takes over known facts of the same records. */
  takeColumns(columns: FileFacts): void {
    this.#columns = columns;
    this.#isShared = false;
  }

  /** Takes facts that other indices hold, too. */
  shareColumns(columns: FileFacts): void {
    this.#columns = columns;
    this.#isShared = true;
  }

  /** The total bytes of all records. */
  get recordBytes(): number {
    let bytes = 0;
    for (let record = 0; record < this.#count; record++) bytes += this.length(record);
    return bytes;
  }

  /** The part that is kept between sessions; null if lines hold several rollouts. */
  store(): StoredIndex | null {
    if (this.#parts !== null) return null;
    const [gaps, lengths, states, steps] = [0, 0, 0, 0].map(() => new NumberColumn());
    let end = 0;
    for (let record = 0; record < this.#count; record++) {
      gaps!.set(record, this.offset(record) - end);
      lengths!.set(record, this.length(record));
      states!.set(record, uint32At(this.#lengths, record) >>> 30);
      steps!.set(record, this.step(record) ?? Number.NaN);
      end = this.offset(record) + this.length(record);
    }
    const blanks = new NumberColumn();
    for (const [at, blank] of this.#blanks.entries()) blanks.set(at, blank);
    return { gaps: gaps!, lengths: lengths!, states: states!, scores: this.#scores, steps: steps!, blanks };
  }

  /** null if it cannot be the index of a file of this size. */
  static of(stored: StoredIndex, columns: FileFacts, bytes: number): LineIndex | null {
    const { gaps, lengths, states, scores, steps, blanks } = stored;
    const index = new LineIndex(scores);
    const count = lengths.length;
    for (let record = 0, end = 0; record < count; record++) {
      const [gap, length, state, step] = [gaps.at(record), lengths.at(record), states.at(record), steps.at(record)];
      const isPlace = Number.isSafeInteger(gap) && gap >= 0 && Number.isSafeInteger(length) && length >= 0;
      end += gap + length;
      if (!isPlace || length > MAX_LENGTH || end > bytes || !(state >= 0 && state <= 2)) return null;
      index.#addPlace(end - length, length, Number.isNaN(step) ? null : step);
      index.#setState(record, state);
    }
    for (let at = 0, before = 0; at < blanks.length; at++) {
      const blank = blanks.at(at);
      if (!Number.isSafeInteger(blank) || blank < before || blank > count) return null;
      index.#blanks.push(blank);
      before = blank;
    }
    index.#columns = columns;
    return index;
  }

  #setStep(at: number, step: number | null): void {
    if (at === 0) {
      this.#step = step;
      this.#steps = null;
    } else if (this.#steps === null && step !== this.#step) {
      this.#steps = new Float64Array(this.#offsets.length).fill(this.#step ?? Number.NaN);
    }
    if (this.#steps !== null) this.#steps[at] = step ?? Number.NaN;
  }

  #grow(): void {
    const size = Math.max(FIRST_RECORDS, this.#offsets.length * 2);
    this.#offsets = grown(new Float64Array(size), this.#offsets);
    this.#lengths = grown(new Uint32Array(size), this.#lengths);
    if (this.#lines !== null) this.#lines = grown(new Uint32Array(size), this.#lines);
    if (this.#parts !== null) this.#parts = grown(new Uint32Array(size), this.#parts);
    if (this.#steps !== null) this.#steps = grown(new Float64Array(size), this.#steps);
  }
}

/** The columns of an index. The start of each record is stored as the gap after the previous one. */
export interface StoredIndex {
  gaps: NumberColumn;
  lengths: NumberColumn;
  states: NumberColumn;
  scores: NumberColumn;
  steps: NumberColumn;
  blanks: NumberColumn;
}

/** Those of an index whose records nobody examined. */
let noFacts: FileFacts | undefined;

export const MAX_LENGTH = 2 ** 30 - 1;
const FIRST_RECORDS = 4;
const NO_NUMBERS = new Float64Array(0);
const NO_LENGTHS = new Uint32Array(0);
const UNKNOWN = 0;
const KNOWN = 1;
const NONE = 2;

function grown<T extends Float64Array | Uint32Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
