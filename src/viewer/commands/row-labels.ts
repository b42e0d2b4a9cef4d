import type { Printable } from '../../core/json/print.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import type { Label } from '../../replay/journal/labels.ts';
import { mayHoldEntries } from '../../replay/journal/place.ts';
import { journalPlaceOf } from './journal-place.ts';

/** Labels of rows, by the text of a record. */
export interface RowLabels {
  /** Nobody labelled anything: no text needs to be read. */
  isEmpty: boolean;
  of(raw: string): Label[];
}

const NO_LABELS: RowLabels = { isEmpty: true, of: () => [] };

/** The labels of a dump; what reads the journal is loaded only if it may have any. */
export async function rowLabels(path: string, flag: string | undefined): Promise<RowLabels> {
  const place = await journalPlaceOf(path, flag);
  if (!mayHoldEntries(place, 'label')) return NO_LABELS;
  const { Journal } = await import('../../replay/journal/journal.ts');
  return labelsIn(new Journal(place));
}

export async function labelsIn(journal: Journal): Promise<RowLabels> {
  const [{ LABELS, standingLabels }, { recordKey }] = await Promise.all([
    import('../../replay/journal/labels.ts'),
    import('../../replay/journal/record-key.ts'),
  ]);
  // Records are identified by a hash of their whole text, which is wasted work if nobody labelled anything.
  if (journal.records(LABELS).length === 0) return NO_LABELS;
  return { isEmpty: false, of: (raw) => standingLabels(journal, recordKey(raw)) };
}

export const labelJson = ({ rater, label, note, turn, quote, at }: Label): Printable => ({
  rater,
  label,
  note,
  turn,
  quote,
  at,
});
