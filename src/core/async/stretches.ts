/** Rows between two checks of the clock. */
export const STRIDE = 1 << 14;

/** Calls with one stretch of rows after another and yields between. A loop within a generator takes longer than one in a function. */
export function* inStretches(count: number, visit: (from: number, to: number) => void): Generator<void> {
  for (let from = 0; from < count; from += STRIDE) {
    visit(from, Math.min(count, from + STRIDE));
    yield;
  }
}
