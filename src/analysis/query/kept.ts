import type { RunAgain } from './again.ts';
import type { LabelWord } from './label.ts';

/** Data that people keep about a record beside its dump: rerun calls, and labels. */
export interface KeptSubject {
  again: readonly RunAgain[];
  labels: readonly LabelWord[];
}

/** Looked up by the text of a record; the caller knows where it is kept. */
export type KeptLookup = (raw: string) => KeptSubject;

export const NOTHING_KEPT: KeptSubject = { again: [], labels: [] };
