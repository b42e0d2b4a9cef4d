import type { SeenResult } from '../actions/seen-result.ts';
import type { ShellStep } from './shell-effects.ts';

/** How a command ended. */
export interface ShellEnd {
  seen: SeenResult | null;
  exit: number | null;
  /** The output has an error of the shell or of a file tool, or is not whole. */
  hasErrors: boolean;
  isAlone: boolean;
}

/** Whether a part of a command ran and succeeded. */
export type Happened = 'did' | 'no' | 'maybe';

/** Whether a step of a command did what it says. @param before the same of the step before it */
export function happenedOf(
  { effects, runs, isProven, isLoud }: ShellStep,
  before: Happened,
  { seen, exit, hasErrors, isAlone }: ShellEnd,
): Happened {
  if (seen === null) return 'maybe';
  if (isProven && exit === 0) return 'did';
  const failed = exit === null ? hasErrors : exit !== 0;
  // Some of several files may have changed before the one that failed.
  if (isAlone && isProven) return !failed ? 'did' : effects.length === 1 ? 'no' : 'maybe';
  const ran = runs === 'always' || (runs === 'after' && before === 'did');
  return ran && isLoud && !hasErrors ? 'did' : 'maybe';
}
