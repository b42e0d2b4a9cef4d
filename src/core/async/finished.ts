/** Runs work that pauses to its end without pausing. */
export function finished<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

/** ms of work between two pauses: about half of a frame. */
const SLICE = 8;

/** The same in slices, between which keys are answered. */
export async function finishedBetweenKeys<Result>(work: Generator<void, Result>): Promise<Result> {
  for (let since = performance.now(); ; ) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (performance.now() - since < SLICE) continue;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  }
}
