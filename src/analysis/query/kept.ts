import type { RunAgain } from './again.ts';
import type { LabelWord } from './label.ts';

/** Entries that people keep of a record beside its dump: calls that were run again, and labels. */
export interface Kept {
  again: readonly RunAgain[];
  labels: readonly LabelWord[];
}

/** By the text of a record; the caller knows where it is kept. */
export type KeptLookup = (raw: string) => Kept;

export const NOTHING_KEPT: Kept = { again: [], labels: [] };
