import { float64At, int32At } from '../../core/lists/at.ts';

/**
 * Numbers pairs of numbers from 0, in order of appearance. A hash table in typed arrays, because a Map with a million
 * keys that are not small integers takes a second.
 */
export class PairNumbers {
  #mask = 1023;
  /** Owner and key of each number, side by side. */
  #pairs = new Float64Array(1024);
  /** The number in each slot; -1 in a free one. */
  #slots = new Int32Array(1024).fill(-1);
  count = 0;

  numberOf(owner: number, key: number): number {
    const at = this.#slotOf(owner, key);
    const known = int32At(this.#slots, at);
    if (known !== -1) return known;
    const number = this.count++;
    if (number * 2 === this.#pairs.length) {
      const pairs = new Float64Array(number * 4);
      pairs.set(this.#pairs);
      this.#pairs = pairs;
    }
    this.#pairs[number * 2] = owner;
    this.#pairs[number * 2 + 1] = key;
    this.#slots[at] = number;
    if (number * 2 > this.#mask) this.#grow();
    return number;
  }

  /** Forgets the numbers from `count` on. No number has a slot because of a later one, so the last goes first. */
  truncate(count: number): void {
    while (this.count > count) {
      const last = (this.count - 1) * 2;
      this.#slots[this.#slotOf(float64At(this.#pairs, last), float64At(this.#pairs, last + 1))] = -1;
      this.count--;
    }
  }

  /** The slot that holds the pair, or the free slot where it belongs. */
  #slotOf(owner: number, key: number): number {
    const low = key | 0;
    const high = (key / 2 ** 32) | 0;
    let at =
      (Math.imul(low ^ Math.imul(high, 0x9e3779b1) ^ Math.imul(owner + 1, 0x85ebca6b), 0xc2b2ae35) >>> 7) & this.#mask;
    for (;;) {
      const number = int32At(this.#slots, at);
      if (number === -1 || (this.#pairs[number * 2 + 1] === key && this.#pairs[number * 2] === owner)) return at;
      at = (at + 1) & this.#mask;
    }
  }

  #grow(): void {
    const size = this.#slots.length * 4;
    this.#mask = size - 1;
    this.#slots = new Int32Array(size).fill(-1);
    for (let number = 0; number < this.count; number++)
      this.#slots[this.#slotOf(float64At(this.#pairs, number * 2), float64At(this.#pairs, number * 2 + 1))] = number;
  }
}
