import type { Place } from '../../core/dump/place.ts';
import type { Printable } from '../../core/json/print.ts';
import type { LabelWord } from '../query/label.ts';
import { column, ownColumn } from './columns.ts';
import type { Report, ReportColumn } from './report.ts';

/** A rollout that somebody labelled. */
export interface LabelledRollout {
  place: Place;
  score: number | null;
  labels: readonly LabelWord[];
  /** Labels that came with the dump, as text: they count for nobody. */
  reported: readonly string[];
}

/** The label of each rater, and their notes. */
export function labelsReport<Row extends LabelledRollout>(
  rows: readonly Row[],
  details: (row: Row) => { [key: string]: Printable },
): Report<Row> {
  const raters = [...new Set(rows.flatMap(({ labels }) => labels.map(({ rater }) => rater)))].sort();
  return {
    title: 'labels',
    columns: [
      column('locator', 'rollout', 'rollout', 'the rollout', ({ place }) => place, { identifies: true }),
      ownColumn('score', 'score', 'recorded score'),
      ...raters.map(
        (name): ReportColumn<Row> => ({
          ...{ key: `rater.${name}`, title: name, type: 'text' },
          meaning: `label of ${name}`,
          value: ({ labels }) => labels.find(({ rater }) => rater === name)?.label ?? null,
        }),
      ),
      {
        ...{ key: 'notes.text', title: 'notes', type: 'text', grows: true },
        meaning: 'notes of the raters, and labels that came with the dump',
        value: ({ labels, reported }) =>
          [...labels.flatMap(({ rater, note }) => (note === null ? [] : [`${rater}: ${note}`])), ...reported].join(
            '; ',
          ),
      },
    ],
    rows,
    details,
    empty: 'nothing is labelled here',
  };
}
