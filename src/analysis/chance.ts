import { numberInAt } from '../core/lists/at.ts';

/** Numbers from a seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some of the numbers below a length, all equally likely, in random order. */
export function sample(length: number, count: number, next: () => number): number[] {
  const chosen = new Set<number>();
  // Floyd's algorithm: needs no list of all numbers.
  for (let i = Math.max(0, length - count); i < length; i++) {
    const at = Math.floor(next() * (i + 1));
    chosen.add(chosen.has(at) ? i : at);
  }
  const order = [...chosen];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [order[i], order[j]] = [numberInAt(order, j), numberInAt(order, i)];
  }
  return order;
}
