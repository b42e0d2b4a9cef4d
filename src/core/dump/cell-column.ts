import type { JsonValue } from '../json/value.ts';
import { float64At } from '../lists/at.ts';
import { NumberColumn } from './number-column.ts';

/** Only the record itself has the value. */
export const IN_RECORD = Symbol('in the record');

/** The kind of a row's cell. The numbers are stored in kept files. */
const MISSING = 0;
const NUMBER = 1;
const FALSE = 2;
const TRUE = 3;
const NULL = 4;
const TEXT = 5;
const OTHER = 6;
export const CELL_KINDS = 7;

/** A column with more distinct texts than this identifies rollouts (a uid) and is not worth keeping. */
const MOST_TEXTS = 4096;
const FEW_TEXTS = 128;
const LONGEST_TEXT = 200;

/** The values of rows under one of the record's keys: numbers, words from a small set, true, false and null. */
export class CellColumn {
  readonly #kinds: NumberColumn;
  readonly #values: NumberColumn;
  readonly #texts: string[];
  readonly #ids = new Map<string, number>();
  #count = 0;
  /** No more texts are accepted. */
  #isFull = false;

  constructor(kinds = new NumberColumn(), values = new NumberColumn(), texts: string[] = []) {
    this.#kinds = kinds;
    this.#values = values;
    this.#texts = texts;
    for (const [id, text] of texts.entries()) this.#ids.set(text, id);
    this.#count = kinds.length;
  }

  get kinds(): NumberColumn {
    return this.#kinds;
  }

  get values(): NumberColumn {
    return this.#values;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }

  set(row: number, value: JsonValue | undefined): void {
    this.#count = Math.max(this.#count, row + 1);
    // Rows that were never filled have no value.
    for (let before = this.#kinds.length; before < row; before++) this.#put(before, MISSING, Number.NaN);
    if (value === undefined) this.#put(row, MISSING, Number.NaN);
    else if (value === null) this.#put(row, NULL, Number.NaN);
    else if (typeof value === 'number') this.#put(row, NUMBER, value);
    else if (typeof value === 'boolean') this.#put(row, value ? TRUE : FALSE, value ? 1 : 0);
    else if (typeof value === 'string') this.#putText(row, value);
    else this.#put(row, OTHER, typeof value === 'bigint' ? Number(value) : Number.NaN);
  }

  #put(row: number, kind: number, value: number): void {
    this.#kinds.set(row, kind);
    this.#values.set(row, value);
  }

  #putText(row: number, text: string): void {
    let id = this.#ids.get(text);
    const known = this.#texts.length;
    this.#isFull ||= known >= MOST_TEXTS || (known >= FEW_TEXTS && known > this.#count / 2);
    if (id === undefined && (text.length > LONGEST_TEXT || this.#isFull)) {
      this.#put(row, OTHER, Number.NaN);
      return;
    }
    if (id === undefined) {
      id = this.#texts.push(text) - 1;
      this.#ids.set(text, id);
    }
    this.#put(row, TEXT, id);
  }

  at(row: number): JsonValue | undefined | typeof IN_RECORD {
    switch (this.#kinds.at(row)) {
      case NUMBER:
        return this.#values.at(row);
      case FALSE:
        return false;
      case TRUE:
        return true;
      case NULL:
        return null;
      case TEXT:
        return this.#texts[this.#values.at(row)];
      case OTHER:
        return IN_RECORD;
      default:
        return undefined;
    }
  }

  /** The number of a row: 1 and 0 for true and false, integers of any length; NaN if it has none. */
  numberAt(row: number): number {
    return this.#kinds.at(row) === TEXT ? Number.NaN : this.#values.at(row);
  }

  /** Copies the numbers of the rows from `from` on, NaN for none. @returns false if one has another value */
  copyNumbers(target: Float64Array, length: number, from: number): boolean {
    for (let i = 0; i < length; i++) {
      const kind = this.#kinds.at(from + i);
      if (kind === TEXT || kind === OTHER) return false;
    }
    this.#values.copyTo(target, 0, length, from);
    // A recorded NaN is a value.
    for (let i = 0; i < length; i++)
      if (Number.isNaN(float64At(target, i)) && this.#kinds.at(from + i) === NUMBER) return false;
    return true;
  }

  /** Judges the values of rows, those that recur once. */
  judged<Verdict>(judge: (value: JsonValue | undefined | typeof IN_RECORD) => Verdict): (row: number) => Verdict {
    const known: Verdict[] = [];
    return (row) => {
      const kind = this.#kinds.at(row);
      if (kind === NUMBER) return judge(this.#values.at(row));
      const name = kind === TEXT ? CELL_KINDS + this.#values.at(row) : Number.isNaN(kind) ? MISSING : kind;
      known[name] ??= judge(this.at(row));
      return known[name];
    };
  }

  /** See NumberColumn. */
  settle(): void {
    this.#kinds.settle();
    this.#values.settle();
  }

  truncate(length: number): void {
    this.#kinds.truncate(length);
    this.#values.truncate(length);
    this.#count = Math.min(this.#count, length);
  }
}
