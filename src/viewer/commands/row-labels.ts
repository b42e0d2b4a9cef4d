import type { Printable } from '../../core/json/print.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import type { Label } from '../../replay/journal/labels.ts';

/** Labels of rows, by the text of a record. */
export interface RowLabels {
  /** Nobody labelled anything: no text needs to be read. */
  isEmpty: boolean;
  of(raw: string): Label[];
}

const NO_LABELS: RowLabels = { isEmpty: true, of: () => [] };

/** The labels of a dump; the journal is loaded only if a command prints them. */
export async function rowLabels(path: string, flag: string | undefined): Promise<RowLabels> {
  const { journalOf } = await import('./journal-of.ts');
  return labelsIn(await journalOf(path, flag));
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
