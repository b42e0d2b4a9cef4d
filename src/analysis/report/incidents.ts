import { plural } from '../../core/text/numbers.ts';
import { doubtsOf, doubtsText } from '../doubts.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { hackAnswer } from '../incidents/hacked.ts';
import { type Incident, incidentsOf } from '../incidents/incidents.ts';
import { scoreFallLines } from '../incidents/score-fall.ts';
import type { Movement } from '../movement/movement.ts';
import { locatorText, type Report } from './report.ts';

/** An incident, or one of its consequences. */
export interface IncidentRow {
  incident: Incident;
  /** null: the incident itself. */
  consequence: string | null;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * The incidents of a run, one sentence each.
 * @param isOpen whether the consequences of an incident have their own rows
 */
export function incidentsReport(
  facts: FactRows,
  moved: readonly Movement[],
  isOpen: (incident: Incident, index: number) => boolean,
): Report<IncidentRow> {
  const incidents = incidentsOf(facts, moved);
  const falls = scoreFallLines(
    facts,
    incidents.map(({ step }) => step),
  );
  const doubts = doubtsText(doubtsOf(facts));
  const rows = incidents.flatMap((incident, index): IncidentRow[] => [
    { incident, consequence: null },
    ...(isOpen(incident, index) ? incident.consequences.map((consequence) => ({ incident, consequence })) : []),
  ]);
  return {
    title: incidents.length === 0 ? 'no incident' : plural(incidents.length, 'incident'),
    columns: [
      {
        key: 'step',
        title: 'step',
        type: 'step',
        meaning: 'first step after it happened',
        identifies: true,
        value: ({ incident, consequence }) => (consequence === null ? incident.step : null),
      },
      {
        key: 'sentence',
        title: 'what happened',
        type: 'text',
        meaning: 'the event, with its consequences below',
        identifies: true,
        grows: true,
        width: 60,
        value: ({ incident, consequence }) =>
          consequence === null ? `${capital(incident.sentence)}.` : `  └ ${consequence}`,
      },
      {
        key: 'also.count',
        title: 'also',
        type: 'count',
        meaning: 'consequences',
        value: ({ incident, consequence }) =>
          consequence === null && incident.consequences.length > 0 ? incident.consequences.length : null,
      },
      {
        key: 'example',
        title: 'example',
        type: 'rollout',
        meaning: 'a rollout that shows it',
        value: ({ incident: { examples }, consequence }) =>
          consequence !== null || examples.after[0] === undefined ? null : facts.place(examples.after[0]),
      },
    ],
    rows,
    details: ({ incident: { family, sentence, consequences, movements, examples } }) => ({
      kind: family,
      sentence,
      consequences: [...consequences],
      numbers: movements.map(({ name }) => name),
      before: examples.before.map((row) => locatorText(facts.place(row))),
      after: examples.after.map((row) => locatorText(facts.place(row))),
    }),
    notes: [...falls, ...hackAnswer(facts, moved)],
    leftOut: doubts === '' ? [] : [doubts],
    empty:
      falls.length === 0 ? 'nothing happened that chance does not explain' : 'no incident beside the fall of the score',
  };
}
