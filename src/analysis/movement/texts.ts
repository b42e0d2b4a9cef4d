import { float64At, int32At, uint32At } from '../../core/lists/at.ts';
import { sample } from '../chance.ts';
import type { Rest } from '../rest.ts';
import type { MovementFacts } from './movement.ts';
import { mostSaid, phrasesBy, type SaidText, type TextRow } from './phrases.ts';
import { rowsOfTraining, timelineOf } from './timeline.ts';

/** The number of rollouts whose texts are searched for phrases. */
const TEXTS = 3000;

/**
 * Sampled rollouts of all steps with their phrases, and the steps of their places. @param next a random number from 0
 * to 1
 */
export async function textRows(
  facts: Pick<MovementFacts, 'length' | 'numbers' | 'words' | 'groups' | 'place'>,
  textOf: (row: number) => SaidText | null,
  next: () => number,
  rest: Rest,
): Promise<{ texts: TextRow[]; steps: readonly number[] }> {
  const rows = rowsOfTraining(facts);
  const { at, steps } = timelineOf(facts, rows);
  const scores = facts.numbers('score');
  const known = rows.filter((row) => int32At(at, row) >= 0);
  const chosen = known.length <= TEXTS ? known : sample(known.length, TEXTS, next).map((i) => uint32At(known, i));
  const found: TextRow[] = [];
  for (const [done, row] of [...chosen].sort((a, b) => a - b).entries()) {
    const said = textOf(row);
    if (said !== null)
      found.push({
        row,
        at: int32At(at, row),
        score: float64At(scores, row),
        group: int32At(facts.groups, row),
        phrases: phrasesBy(said),
        repeats: mostSaid(said.model),
      });
    await rest(done, chosen.length);
  }
  return { texts: found, steps };
}
