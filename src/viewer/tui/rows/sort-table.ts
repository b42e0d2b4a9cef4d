import type { SortValue } from '../../../analysis/query/sort.ts';
import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { float64At, itemAt, numberInAt, uint8At, uint32At } from '../../../core/lists/at.ts';
import { STRIDE, sortedByNumber, sortedInSteps } from './radix.ts';

/** Kinds of values in sort order, in both directions: see compareValues in analysis/query/sort.ts. */
const NUMBER = 0;
const TEXT = 1;
const NOT_A_NUMBER = 2;
const MISSING = 3;
/** The record no longer exists. */
const DEAD = 4;

/** Comparisons between two checks of the clock. */
const STEP = 4096;
/** Up to this many rows, a comparison sort is used. */
const FEW = 512;

/**
 * Records with their sort values: 17 bytes each in typed arrays, so that a million take little memory and do not burden the garbage
 * collector. Rows are identified by an id, in order of arrival.
 */
export class SortTable {
  readonly #descending: boolean;
  #size = 0;
  #kinds: Uint8Array;
  #numbers: Float64Array;
  #records: Uint32Array;
  #files: Uint32Array;
  readonly #texts: string[] = [];
  readonly #textIds = new Map<string, number>();
  readonly #fileList: DumpFile[] = [];
  readonly #fileIds = new Map<DumpFile, number>();
  /** The index of each file in the dump. */
  #ranks: number[] = [];
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
    this.#files = new Uint32Array(room);
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

  add(file: DumpFile, record: number, value: SortValue): number {
    const id = this.#size;
    if (id === this.#kinds.length) this.#grow();
    this.#size++;
    this.#files[id] = this.#fileId(file);
    this.#records[id] = record;
    if (value === null) this.#kinds[id] = MISSING;
    else if (typeof value === 'string') {
      this.#kinds[id] = TEXT;
      this.#numbers[id] = this.#textId(value);
    } else {
      this.#kinds[id] = Number.isNaN(value) ? NOT_A_NUMBER : NUMBER;
      this.#numbers[id] = value;
    }
    return id;
  }

  /** Adds records of one file with their numbers, NaN for none. @returns the ids, in order */
  addAll(file: DumpFile, records: Uint32Array, numbers: Float64Array): Uint32Array {
    const first = this.#size;
    const end = first + records.length;
    while (end > this.#kinds.length) this.#grow();
    this.#size = end;
    this.#files.fill(this.#fileId(file), first, end);
    this.#records.set(records, first);
    const ids = new Uint32Array(records.length);
    for (let i = 0; i < ids.length; i++) {
      const number = float64At(numbers, i);
      ids[i] = first + i;
      this.#numbers[first + i] = number;
      this.#kinds[first + i] = Number.isNaN(number) ? MISSING : NUMBER;
    }
    return ids;
  }

  kill(id: number): void {
    this.#kinds[id] = DEAD;
    this.#deaths++;
  }

  value(id: number): SortValue {
    const kind = this.#kinds[id];
    if (kind === NUMBER) return float64At(this.#numbers, id);
    if (kind === TEXT) return itemAt(this.#texts, float64At(this.#numbers, id));
    return kind === NOT_A_NUMBER ? Number.NaN : null;
  }

  place(id: number): Place {
    return { file: itemAt(this.#fileList, uint32At(this.#files, id)), record: uint32At(this.#records, id) };
  }

  /** Equal values keep the order of the files. */
  rankFiles(files: readonly DumpFile[]): void {
    const ranks = new Map(files.map((file, rank) => [file, rank]));
    this.#ranks = this.#fileList.map((file) => ranks.get(file) ?? files.length);
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
    const byFile =
      numberInAt(this.#ranks, uint32At(this.#files, a)) - numberInAt(this.#ranks, uint32At(this.#files, b));
    return byFile !== 0 ? byFile : uint32At(this.#records, a) - uint32At(this.#records, b);
  }

  /** The index of a row in an order, by binary search. */
  static indexIn(table: SortTable, order: Uint32Array, id: number): number {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table.compare(uint32At(order, middle), id) < 0) low = middle + 1;
      else high = middle;
    }
    return order[low] === id ? low : -1;
  }

  /** Sorts new rows and merges them into the sorted ones, yielding between steps. */
  *merge(): Generator<void> {
    const end = this.#size;
    const ids = new Uint32Array(end - this.#merged);
    for (let i = 0; i < ids.length; i++) ids[i] = this.#merged + i;
    const fresh = yield* this.#sorted(ids);
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

  /** Of each kind apart, in the order of kinds. The initial order is that of the files. */
  *#sorted(ids: Uint32Array<ArrayBuffer>): Generator<void, Uint32Array> {
    if (ids.length < FEW) return ids.sort((a, b) => this.compare(a, b));
    const source = yield* this.#inFileOrder(ids);
    const ofKinds = new Uint32Array(DEAD + 1);
    for (let i = 0; i < source.length; i++) {
      const kind = uint8At(this.#kinds, uint32At(source, i));
      ofKinds[kind] = uint32At(ofKinds, kind) + 1;
      if ((i & (STRIDE - 1)) === 0) yield;
    }
    const apart = Array.from(ofKinds, (count) => new Uint32Array(count));
    ofKinds.fill(0);
    for (let i = 0; i < source.length; i++) {
      const id = uint32At(source, i);
      const kind = uint8At(this.#kinds, id);
      const at = uint32At(ofKinds, kind);
      itemAt(apart, kind)[at] = id;
      ofKinds[kind] = at + 1;
      if ((i & (STRIDE - 1)) === 0) yield;
    }
    const sorted = new Uint32Array(source.length);
    let at = 0;
    for (const [kind, own] of apart.entries()) {
      sorted.set(kind < NOT_A_NUMBER && own.length > 1 ? yield* this.#byNumber(own, kind) : own, at);
      at += own.length;
    }
    return sorted;
  }

  *#byNumber(ids: Uint32Array<ArrayBuffer>, kind: number): Generator<void, Uint32Array> {
    const ranks = kind === TEXT ? yield* this.#textRanks() : null;
    const numbers = new Float64Array(ids.length);
    for (let i = 0; i < ids.length; i++) {
      const number = float64At(this.#numbers, uint32At(ids, i));
      numbers[i] = ranks === null ? number : uint32At(ranks, number);
      if ((i & (STRIDE - 1)) === 0) yield;
    }
    return yield* sortedByNumber(ids, numbers, this.#descending);
  }

  /** The rows as they are in the files. */
  *#inFileOrder(ids: Uint32Array<ArrayBuffer>): Generator<void, Uint32Array<ArrayBuffer>> {
    const ranks = this.#ranks.reduce((most, rank) => Math.max(most, rank), 0) + 1;
    const starts = new Uint32Array(ranks + 1);
    let isInOrder = true;
    let [lastRank, lastRecord] = [-1, -1];
    for (let i = 0; i < ids.length; i++) {
      const id = uint32At(ids, i);
      const rank = numberInAt(this.#ranks, uint32At(this.#files, id));
      const record = uint32At(this.#records, id);
      isInOrder &&= rank > lastRank || (rank === lastRank && record > lastRecord);
      [lastRank, lastRecord] = [rank, record];
      starts[rank + 1] = uint32At(starts, rank + 1) + 1;
      if ((i & (STRIDE - 1)) === 0) yield;
    }
    if (isInOrder) return ids;
    for (let rank = 0; rank < ranks; rank++) starts[rank + 1] = uint32At(starts, rank + 1) + uint32At(starts, rank);
    const ordered = new Uint32Array(ids.length);
    let isAscending = true;
    let last = -1;
    for (let i = 0; i < ids.length; i++) {
      const id = uint32At(ids, i);
      if (i > 0 && this.#files[id] === this.#files[uint32At(ids, i - 1)])
        isAscending &&= uint32At(this.#records, id) > last;
      last = uint32At(this.#records, id);
      ordered[starts[numberInAt(this.#ranks, uint32At(this.#files, id))]!++] = id;
      if ((i & (STRIDE - 1)) === 0) yield;
    }
    // Records of a file are examined in order; if that ever fails to hold, a comparison sort fixes it.
    return isAscending
      ? ordered
      : ordered.sort(
          (a, b) =>
            numberInAt(this.#ranks, uint32At(this.#files, a)) - numberInAt(this.#ranks, uint32At(this.#files, b)) ||
            uint32At(this.#records, a) - uint32At(this.#records, b),
        );
  }

  /** The place of each text in the order of all texts. */
  *#textRanks(): Generator<void, Uint32Array> {
    const ranks = new Uint32Array(this.#texts.length);
    const isBefore = (a: number, b: number): boolean => itemAt(this.#texts, a) < itemAt(this.#texts, b);
    const order = yield* sortedInSteps(ranks.length, isBefore);
    for (let rank = 0; rank < order.length; rank++) ranks[uint32At(order, rank)] = rank;
    return ranks;
  }

  *#mergeInto(target: Uint32Array, left: Uint32Array, right: Uint32Array): Generator<void> {
    let [a, b, at] = [0, 0, 0];
    while (a < left.length && b < right.length) {
      target[at++] =
        this.compare(uint32At(left, a), uint32At(right, b)) <= 0 ? uint32At(left, a++) : uint32At(right, b++);
      if ((at & (STEP - 1)) === 0) yield;
    }
    target.set(left.subarray(a), at);
    target.set(right.subarray(b), at + left.length - a);
  }

  #fileId(file: DumpFile): number {
    let id = this.#fileIds.get(file);
    if (id === undefined) {
      id = this.#fileList.push(file) - 1;
      this.#fileIds.set(file, id);
    }
    return id;
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
    const size = this.#kinds.length * 2;
    this.#kinds = grown(new Uint8Array(size), this.#kinds);
    this.#numbers = grown(new Float64Array(size), this.#numbers);
    this.#records = grown(new Uint32Array(size), this.#records);
    this.#files = grown(new Uint32Array(size), this.#files);
  }
}

function grown<T extends Uint8Array | Uint32Array | Float64Array>(target: T, source: T): T {
  target.set(source);
  return target;
}
