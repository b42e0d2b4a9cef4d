import { writeFileSync } from 'node:fs';

const peak = (): number => process.resourceUsage().maxRSS / 1000;

/** What this process takes at the most from now on, in MB, over what it takes now. */
export function peakFromNow(): () => number {
  try {
    // The kernel forgets what tests before took, which would hide what this one does.
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // A system without it tells the peak of the whole life.
  }
  const before = peak();
  return () => peak() - before;
}
