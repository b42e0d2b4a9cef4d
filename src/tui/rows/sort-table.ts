import type { SortValue } from '../../analysis/query/sort.ts';
import type { Place } from '../../dump/dump.ts';
import type { DumpFile } from '../../dump/dump-file.ts';

/** Kinds of values in their order, whichever way it is sorted: see compareValues in analysis/query/sort.ts. */
const NUMBER = 0;
const TEXT = 1;
const NOT_A_NUMBER = 2;
const MISSING = 3;
/** The record is no more. */
const DEAD = 4;

/** Comparisons between two looks at the clock. */
const STEP = 4096;

/**
 * Records with what they are sorted by: 17 bytes each in typed arrays, so that a million neither take memory nor keep the garbage
 * collector busy. Rows are known by an id, in the order in which they came.
 */
export class SortTable {
  readonly #descending: boolean;
  #size = 0;
  #kinds = new Uint8Array(1024);
  #numbers = new Float64Array(1024);
  #records = new Uint32Array(1024);
  #files = new Uint32Array(1024);
  readonly #texts: string[] = [];
  readonly #textIds = new Map<string, number>();
  readonly #fileList: DumpFile[] = [];
  readonly #fileIds = new Map<DumpFile, number>();
  /** The place of each file in the order of the dump. */
  #ranks: number[] = [];
  #order = new Uint32Array(0);
  /** Rows that `order` knows of. */
  #merged = 0;
  #deaths = 0;

  constructor(descending: boolean) {
    this.#descending = descending;
  }

  /** Ids in their order. Never written to again: a list that is on the screen may keep it. */
  get order(): Uint32Array {
    return this.#order;
  }

  get isMerged(): boolean {
    return this.#merged === this.#size && this.#deaths === 0;
  }

  /** Rows that are not sorted in yet. */
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

  kill(id: number): void {
    this.#kinds[id] = DEAD;
    this.#deaths++;
  }

  value(id: number): SortValue {
    const kind = this.#kinds[id];
    if (kind === NUMBER) return this.#numbers[id]!;
    if (kind === TEXT) return this.#texts[this.#numbers[id]!]!;
    return kind === NOT_A_NUMBER ? Number.NaN : null;
  }

  place(id: number): Place {
    return { file: this.#fileList[this.#files[id]!]!, record: this.#records[id]! };
  }

  /** Equal values stand in the order of the files. */
  rankFiles(files: readonly DumpFile[]): void {
    const ranks = new Map(files.map((file, rank) => [file, rank]));
    this.#ranks = this.#fileList.map((file) => ranks.get(file) ?? files.length);
  }

  /** Below 0 where `a` stands before `b`. */
  compare(a: number, b: number): number {
    const kind = this.#kinds[a]!;
    const byKind = kind - this.#kinds[b]!;
    if (byKind !== 0) return byKind;
    if (kind < NOT_A_NUMBER) {
      const left = this.#numbers[a]!;
      const right = this.#numbers[b]!;
      if (left !== right) {
        const isLess = kind === NUMBER ? left < right : this.#texts[left]! < this.#texts[right]!;
        return isLess === this.#descending ? 1 : -1;
      }
    }
    const byFile = this.#ranks[this.#files[a]!]! - this.#ranks[this.#files[b]!]!;
    return byFile !== 0 ? byFile : this.#records[a]! - this.#records[b]!;
  }

  /** The index of a row in an order, by halving. */
  static indexIn(table: SortTable, order: Uint32Array, id: number): number {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table.compare(order[middle]!, id) < 0) low = middle + 1;
      else high = middle;
    }
    return order[low] === id ? low : -1;
  }

  /** Sorts what is new and merges it with what is sorted, in steps between which something else may happen. */
  *merge(): Generator<void> {
    const end = this.#size;
    let fresh = new Uint32Array(end - this.#merged);
    for (let i = 0; i < fresh.length; i++) fresh[i] = this.#merged + i;
    fresh = yield* this.#sorted(fresh);
    const hasDead = this.#deaths > 0;
    this.#deaths = 0;
    const isAlive = (id: number): boolean => this.#kinds[id] !== DEAD;
    // The dead have lost their place in the order, so that nothing could be merged beside them.
    const kept = hasDead ? this.#order.filter(isAlive) : this.#order;
    const order = new Uint32Array(kept.length + fresh.length);
    yield* this.#mergeInto(order, 0, kept, fresh);
    this.#merged = end;
    this.#order = hasDead ? order.filter(isAlive) : order;
  }

  /** Short runs by the engine's own sort, then merged two by two. */
  *#sorted(ids: Uint32Array<ArrayBuffer>): Generator<void, Uint32Array<ArrayBuffer>> {
    const compare = (a: number, b: number) => this.compare(a, b);
    for (let from = 0; from < ids.length; from += STEP) {
      ids.subarray(from, from + STEP).sort(compare);
      yield;
    }
    let source = ids;
    let target = new Uint32Array(ids.length);
    for (let run = STEP; run < ids.length; run *= 2) {
      for (let from = 0; from < ids.length; from += run * 2) {
        const middle = Math.min(from + run, ids.length);
        const left = source.subarray(from, middle);
        yield* this.#mergeInto(target, from, left, source.subarray(middle, from + run * 2));
      }
      [source, target] = [target, source];
    }
    return source;
  }

  *#mergeInto(target: Uint32Array, from: number, left: Uint32Array, right: Uint32Array): Generator<void> {
    let a = 0;
    let b = 0;
    let at = from;
    const end = from + left.length + right.length;
    while (a < left.length && b < right.length) {
      target[at++] = this.compare(left[a]!, right[b]!) <= 0 ? left[a++]! : right[b++]!;
      if ((at & (STEP - 1)) === 0) yield;
    }
    target.set(left.subarray(a), at);
    target.set(right.subarray(b), end - (right.length - b));
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
