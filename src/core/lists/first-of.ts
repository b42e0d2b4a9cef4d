/** Kept beyond what is asked for, so that sorting is rare. */
const SPARE = 256;

/** The first so many of what was added, in order; equal ones in the order in which they came. */
export class FirstOf<Item> {
  readonly #most: number;
  readonly #compare: (a: Item, b: Item) => number;
  #items: Item[] = [];
  /** The last that counts, once there are enough: what does not come before it is never among them. */
  #bound: Item | null = null;

  constructor(most: number, compare: (a: Item, b: Item) => number) {
    this.#most = most;
    this.#compare = compare;
  }

  add(item: Item): void {
    if (this.#bound !== null && this.#compare(item, this.#bound) >= 0) return;
    this.#items.push(item);
    if (this.#items.length >= this.#most * 2 + SPARE) this.sorted();
  }

  sorted(): readonly Item[] {
    // The sort is stable, and what was kept came before what was added.
    this.#items.sort(this.#compare);
    if (this.#items.length >= this.#most) {
      this.#items.length = this.#most;
      this.#bound = this.#items.at(-1) ?? null;
    }
    return this.#items;
  }
}
