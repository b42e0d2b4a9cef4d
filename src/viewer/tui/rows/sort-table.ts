import type { SortValue } from '../../../analysis/query/sort.ts';
import { inStretches } from '../../../core/async/stretches.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { float64At, itemAt, uint8At, uint32At } from '../../../core/lists/at.ts';
import { placesWhile } from '../../../core/lists/places.ts';
import { sortedByNumber, sortedInSteps } from './radix.ts';
import { RowRuns } from './row-runs.ts';

/** Kinds of values in sort order, in both directions: see compareValues in analysis/query/sort.ts. */
const NUMBER = 0;
const TEXT = 1;
const NOT_A_NUMBER = 2;
const MISSING = 3;
/** The record no longer exists. */
const DEAD = 4;

/** Up to this many rows, a comparison sort is used. */
const FEW = 512;
/** Fresh rows that are merged between two checks of the clock. */
const STEP = 256;

/**
 * Records with their sort values: 13 bytes each in typed arrays, so that a million take little memory and do not burden the garbage
 * collector. Rows are identified by an id, in order of arrival. Those of a file arrive in the order of its records; a row that comes again
 * was killed before.
 */
export class SortTable {
  readonly #descending: boolean;
  #size = 0;
  #kinds: Uint8Array;
  #numbers: Float64Array;
  #records: Uint32Array;
  readonly #texts: string[] = [];
  readonly #textIds = new Map<string, number>();
  readonly #runs = new RowRuns();
  #order: Uint32Array = new Uint32Array(0);
  /** Number of rows included in `order`. */
  #merged = 0;
  #deaths = 0;

  /** @param rows that are expected: to copy half a million to a longer list holds up a key */
  constructor(descending: boolean, rows = 0) {
    const room = rows + 1024;
    this.#descending = descending;
    this.#kinds = new Uint8Array(room);
    this.#numbers = new Float64Array(room);
    this.#records = new Uint32Array(room);
  }

  /** Ids in order. Never modified in place: a list on screen may keep it. */
  get order(): Uint32Array {
    return this.#order;
  }

  get isMerged(): boolean {
    return this.#merged === this.#size && this.#deaths === 0;
  }

  /** Rows not sorted in yet. */
  get waiting(): number {
    return this.#size - this.#merged;
  }

  add(file: DumpFile, record: number, value: SortValue): void {
    const id = this.#room(file, record, 1);
    this.#records[id] = record;
    if (value === null) this.#kinds[id] = MISSING;
    else if (typeof value === 'string') {
      this.#kinds[id] = TEXT;
      this.#numbers[id] = this.#textId(value);
    } else {
      this.#kinds[id] = Number.isNaN(value) ? NOT_A_NUMBER : NUMBER;
      this.#numbers[id] = value;
    }
  }

  /** Adds ascending records of one file with their numbers, NaN for none. */
  addAll(file: DumpFile, records: Uint32Array, numbers: Float64Array): void {
    if (records.length === 0) return;
    const first = this.#room(file, uint32At(records, 0), records.length);
    this.#records.set(records, first);
    this.#numbers.set(numbers, first);
    for (let i = 0; i < numbers.length; i++) if (Number.isNaN(float64At(numbers, i))) this.#kinds[first + i] = MISSING;
  }

  /** Makes room for rows that begin with this record. @returns the id of the first */
  #room(file: DumpFile, record: number, rows: number): number {
    const id = this.#size;
    this.#size += rows;
    if (this.#size > this.#kinds.length) this.#grow();
    this.#runs.add(file, id, rows, id > 0 && uint32At(this.#records, id - 1) < record);
    return id;
  }

  kill(file: DumpFile, record: number): void {
    const id = this.idOf({ file, record });
    if (id >= 0) this.#die(id);
  }

  killAll(file: DumpFile): void {
    for (const { id, end } of this.#runs.of(file))
      for (let row = id; row < end; row++) if (this.#kinds[row] !== DEAD) this.#die(row);
    this.#runs.forget(file);
  }

  #die(id: number): void {
    this.#kinds[id] = DEAD;
    this.#deaths++;
  }

  /** The row of a record; -1 if it has none. */
  idOf({ file, record }: Place): number {
    const runs = this.#runs.of(file);
    const run = runs[placesWhile(runs.length, (at) => uint32At(this.#records, itemAt(runs, at).id) <= record) - 1];
    if (run === undefined) return -1;
    const id = run.id + placesWhile(run.end - run.id, (at) => uint32At(this.#records, run.id + at) <= record) - 1;
    return this.#records[id] === record && this.#kinds[id] !== DEAD ? id : -1;
  }

  value(id: number): SortValue {
    const kind = this.#kinds[id];
    if (kind === NUMBER) return float64At(this.#numbers, id);
    if (kind === TEXT) return itemAt(this.#texts, float64At(this.#numbers, id));
    return kind === NOT_A_NUMBER ? Number.NaN : null;
  }

  place(id: number): Place {
    return { file: this.#runs.at(id).file, record: uint32At(this.#records, id) };
  }

  /** Equal values keep the order of the files. */
  rankFiles(files: readonly DumpFile[]): void {
    this.#runs.rank(files);
  }

  /** Below 0 if `a` comes before `b`. */
  compare(a: number, b: number): number {
    const kind = uint8At(this.#kinds, a);
    const byKind = kind - uint8At(this.#kinds, b);
    if (byKind !== 0) return byKind;
    if (kind < NOT_A_NUMBER) {
      const left = float64At(this.#numbers, a);
      const right = float64At(this.#numbers, b);
      if (left !== right) {
        const isLess = kind === NUMBER ? left < right : itemAt(this.#texts, left) < itemAt(this.#texts, right);
        return isLess === this.#descending ? 1 : -1;
      }
    }
    return this.#runs.at(a).rank - this.#runs.at(b).rank || uint32At(this.#records, a) - uint32At(this.#records, b);
  }

  /** The index of a row in an order, by binary search. */
  static indexIn(table: SortTable, order: Uint32Array, id: number): number {
    const at = placesWhile(order.length, (index) => table.compare(uint32At(order, index), id) < 0);
    return order[at] === id ? at : -1;
  }

  /** Sorts new rows and merges them into the sorted ones, yielding between steps. */
  *merge(): Generator<void> {
    const end = this.#size;
    const fresh = yield* this.#sorted(this.#merged, end);
    const hasDead = this.#deaths > 0;
    this.#deaths = 0;
    const isAlive = (id: number): boolean => this.#kinds[id] !== DEAD;
    // Dead rows have no defined order, so nothing could be merged beside them.
    const kept = hasDead ? this.#order.filter(isAlive) : this.#order;
    const order = kept.length === 0 ? fresh : new Uint32Array(kept.length + fresh.length);
    if (kept.length > 0) yield* this.#mergeInto(order, kept, fresh);
    this.#merged = end;
    this.#order = hasDead ? order.filter(isAlive) : order;
  }

  /** The rows from an id up to another: each kind apart, in the order of kinds. */
  *#sorted(from: number, end: number): Generator<void, Uint32Array> {
    if (end - from < FEW) return Uint32Array.from({ length: end - from }, (_, i) => from + i).sort(this.#comparison);
    const kinds = this.#kinds.subarray(from, end);
    if (![TEXT, NOT_A_NUMBER, MISSING, DEAD].some((kind) => kinds.includes(kind))) {
      yield;
      const { ids, numbers } = yield* this.#inFileOrder(from, end);
      return yield* sortedByNumber(ids, numbers, this.#descending);
    }
    const ofKinds = new Uint32Array(DEAD + 1);
    yield* inStretches(end - from, (start, stop) => this.#countKinds(ofKinds, from + start, from + stop));
    const apart = Array.from(ofKinds, (count) => ({ ids: new Uint32Array(count), numbers: NO_NUMBERS, length: 0 }));
    for (const kind of [NUMBER, TEXT]) itemAt(apart, kind).numbers = new Float64Array(uint32At(ofKinds, kind));
    for (const { first, stop } of this.#runs.inFileOrder(from, end))
      yield* inStretches(stop - first, (some, more) => this.#part(apart, first + some, first + more));
    const texts = itemAt(apart, TEXT);
    const ranks = yield* this.#textRanks(texts.ids.length);
    yield* inStretches(texts.ids.length, (some, more) => {
      for (let i = some; i < more; i++) texts.numbers[i] = uint32At(ranks, float64At(texts.numbers, i));
    });
    const sorted = new Uint32Array(end - from);
    let at = 0;
    for (const { ids, numbers } of apart) {
      sorted.set(numbers.length > 1 ? yield* sortedByNumber(ids, numbers, this.#descending) : ids, at);
      at += ids.length;
    }
    return sorted;
  }

  readonly #comparison = (a: number, b: number): number => this.compare(a, b);

  #countKinds(counts: Uint32Array, from: number, to: number): void {
    for (let id = from; id < to; id++) {
      const kind = uint8At(this.#kinds, id);
      counts[kind] = uint32At(counts, kind) + 1;
    }
  }

  /** Adds rows to those of their kinds. */
  #part(apart: { ids: Uint32Array; numbers: Float64Array; length: number }[], from: number, to: number): void {
    for (let id = from; id < to; id++) {
      const kind = uint8At(this.#kinds, id);
      const own = itemAt(apart, kind);
      own.ids[own.length] = id;
      if (kind <= TEXT) own.numbers[own.length] = float64At(this.#numbers, id);
      own.length++;
    }
  }

  /** The rows from an id up to another, all of which have a number. */
  *#inFileOrder(from: number, end: number): Generator<void, { ids: Uint32Array<ArrayBuffer>; numbers: Float64Array }> {
    const runs = this.#runs.inFileOrder(from, end);
    const ids = new Uint32Array(end - from);
    const isMoved = runs.some(({ first }, at) => at > 0 && first < itemAt(runs, at - 1).stop);
    const numbers = isMoved ? new Float64Array(end - from) : this.#numbers.subarray(from, end);
    let at = 0;
    for (const { first, stop } of runs) {
      if (isMoved) numbers.set(this.#numbers.subarray(first, stop), at);
      for (let id = first; id < stop; id++) ids[at++] = id;
      yield;
    }
    return { ids, numbers };
  }

  /** The place of each text in the order of all texts; nothing if no row has one. */
  *#textRanks(rows: number): Generator<void, Uint32Array> {
    const ranks = new Uint32Array(rows === 0 ? 0 : this.#texts.length);
    const isBefore = (a: number, b: number): boolean => itemAt(this.#texts, a) < itemAt(this.#texts, b);
    const order = yield* sortedInSteps(ranks.length, isBefore);
    for (let rank = 0; rank < order.length; rank++) ranks[uint32At(order, rank)] = rank;
    return ranks;
  }

  /** Each of the right ones goes behind those of the left that are not after it. */
  *#mergeInto(target: Uint32Array, left: Uint32Array, right: Uint32Array): Generator<void> {
    let from = 0;
    for (let i = 0; i < right.length; i++) {
      const id = uint32At(right, i);
      const start = from;
      const isBefore = (at: number): boolean => this.compare(uint32At(left, start + at), id) <= 0;
      // Most are near the one before.
      let reach = 1;
      while (start + reach < left.length && isBefore(reach - 1)) reach *= 2;
      from += placesWhile(Math.min(reach, left.length - start), isBefore);
      target.set(left.subarray(start, from), start + i);
      target[from + i] = id;
      if ((i & (STEP - 1)) === 0) yield;
    }
    target.set(left.subarray(from), from + right.length);
  }

  #textId(text: string): number {
    let id = this.#textIds.get(text);
    if (id === undefined) {
      id = this.#texts.push(text) - 1;
      this.#textIds.set(text, id);
    }
    return id;
  }

  #grow(): void {
    const size = Math.max(this.#size, this.#kinds.length * 2);
    this.#kinds = grown(new Uint8Array(size), this.#kinds);
    this.#numbers = grown(new Float64Array(size), this.#numbers);
    this.#records = grown(new Uint32Array(size), this.#records);
  }
}

const NO_NUMBERS = new Float64Array(0);

function grown<T extends Uint8Array | Uint32Array | Float64Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
