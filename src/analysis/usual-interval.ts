import type { DumpFile } from '../core/dump/dump-file.ts';
import { numberInAt } from '../core/lists/at.ts';

/** The number of steps used for the usual interval. */
export const INTERVAL_STEPS = 64;
/** Files that end closer together than this were copied, or are all being appended to. */
const SHORTEST = 1000;

/**
 * The median time in ms between the ends of consecutive steps; null if the times do not show it. Steps end in order.
 * Copied files and files that all grow at once have times in any order: if more than a third of the steps ended before
 * their predecessor, the times say nothing about the run. A resumed run has one such place, and the pause before it is
 * one gap of many.
 * @param files the steps of one stream in order, the newest last
 */
export function usualInterval(files: readonly DumpFile[]): number | null {
  const times = files.slice(-INTERVAL_STEPS).map((file) => file.lastChange);
  const gaps = times.slice(1).map((time, i) => time - numberInAt(times, i));
  const forward = gaps.filter((gap) => gap > 0).sort((a, b) => a - b);
  if (forward.length < 2 || forward.length * 3 < gaps.length * 2) return null;
  const median = numberInAt(forward, forward.length >> 1);
  return median < SHORTEST ? null : median;
}
