import type { DumpFile } from '../core/dump/dump-file.ts';
import { itemAt } from '../core/lists/at.ts';

/** The number of previous steps whose size predicts this one's. */
const SIBLINGS = 5;
/**
 * Silence this many times longer than a file's longest gap, and at least so many ms, ends a step with fewer rollouts
 * than the previous ones.
 */
const FAR_LONGER = 10;
const LONG_QUIET = 60_000;
/** A first step has no predecessors: silence this many times its longest gap ends it. */
const LONGER = 5;

/** Decides when steps are complete: a writer that stalls for a moment has not finished its step. */
export class StepEnds {
  readonly #gaps = new WeakMap<DumpFile, { last: number; longest: number }>();

  /** Bytes of the file came. @param isNew it appeared, or was rewritten */
  note(file: DumpFile, isNew: boolean, now: number): void {
    const known = this.#gaps.get(file);
    if (known === undefined || isNew) this.#gaps.set(file, { last: now, longest: 0 });
    else {
      known.longest = Math.max(known.longest, now - known.last);
      known.last = now;
    }
  }

  /** @param steps the files of its stream in order */
  isComplete(file: DumpFile, steps: readonly DumpFile[], now: number): boolean {
    if (file.state !== 'ready' || file.count === 0 || file.isArriving(now)) return false;
    const at = steps.lastIndexOf(file);
    if (at === -1 || steps.slice(at + 1).some(({ count }) => count > 0)) return true;
    const age = now - file.lastChange;
    const longest = this.#gaps.get(file)?.longest ?? 0;
    const least = leastOf(steps, at);
    if (least === null) return age > LONGER * longest;
    return file.count >= least || age > Math.max(LONG_QUIET, FAR_LONGER * longest);
  }
}

/** The fewest rollouts in one of the previous steps; null without any. */
function leastOf(steps: readonly DumpFile[], at: number): number | null {
  let least: number | null = null;
  let found = 0;
  for (let i = at - 1; i >= 0 && found < SIBLINGS; i--) {
    const { count, isAway } = itemAt(steps, i);
    if (count === 0 || isAway) continue;
    least = Math.min(least ?? count, count);
    found++;
  }
  return least;
}
