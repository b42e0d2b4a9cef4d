import { uint32At } from '../../../core/lists/at.ts';

/**
 * Ascending records of a file: 4 bytes each, or none while they are all from the first on. `values` up to a given length never changes: the
 * list only grows, or is copied.
 */
export class RecordList {
  /** null for the records from 0 up to `length`. */
  values: Uint32Array | null = null;
  length = 0;

  get last(): number {
    return this.values === null ? this.length - 1 : uint32At(this.values, this.length - 1);
  }

  push(record: number): void {
    if (this.values === null && record === this.length) this.length++;
    else this.#room(1)[this.length++] = record;
  }

  pushAll(records: Uint32Array): void {
    const [first, last] = [records[0], records.at(-1)];
    if (first === undefined || last === undefined) return;
    const isNext = first === this.length && last - first === records.length - 1;
    if (this.values !== null || !isNext) this.#room(records.length).set(records, this.length);
    this.length += records.length;
  }

  pop(): void {
    if (this.length === 0) return;
    this.length--;
    this.values = this.values?.slice() ?? null;
  }

  /** The list with room for more. */
  #room(more: number): Uint32Array {
    const { length, values } = this;
    if (values !== null && length + more <= values.length) return values;
    const grown = new Uint32Array(Math.max(64, length + more, length * 2));
    if (values !== null) grown.set(values.subarray(0, length));
    else for (let record = 0; record < length; record++) grown[record] = record;
    this.values = grown;
    return grown;
  }
}
