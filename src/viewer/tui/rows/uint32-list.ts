import { uint32At } from '../../../core/lists/at.ts';

/** Numbers below 2^32 in sequence, 4 bytes each. `values` up to a given length never changes: the list only grows, or is copied. */
export class Uint32List {
  values = new Uint32Array(64);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) this.#copy(this.length * 2);
    this.values[this.length++] = value;
  }

  pushAll(values: Uint32Array): void {
    const end = this.length + values.length;
    if (end > this.values.length) this.#copy(Math.max(end, this.length * 2));
    this.values.set(values, this.length);
    this.length = end;
  }

  pop(): void {
    if (this.length === 0) return;
    this.length--;
    this.#copy(this.values.length);
  }

  at(index: number): number {
    return uint32At(this.values, index);
  }

  #copy(size: number): void {
    const copy = new Uint32Array(size);
    copy.set(this.values.subarray(0, this.length));
    this.values = copy;
  }
}
