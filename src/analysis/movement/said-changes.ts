import { float64At, int32At, uint32At } from '../../core/lists/at.ts';
import { random, sample } from '../chance.ts';
import { partOfRest, type Rest } from '../rest.ts';
import type { MovementFacts } from './movement.ts';
import { newPhrases } from './new-phrases.ts';
import type { PhraseMovement } from './phrase-split.ts';
import { mostSaid, phrasesBy, type SaidText, type TextRow } from './phrases.ts';
import { rowsOfTraining, timelineOf } from './timeline.ts';

/** A rollout whose text was examined. */
interface SaidRow {
  row: number;
  /** The index in the timeline. */
  at: number;
  score: number;
  /** How often its most repeated words occur. */
  repeats: number;
}

/** Phrases are compared without regard to capitals, and shown with them. */
export interface WrittenPhrase extends PhraseMovement {
  written: string;
}

/** New phrases of a run, and the rollouts that were searched for them. */
export interface SaidChanges {
  /** Phrases that came with reward. */
  rewarded: readonly WrittenPhrase[];
  /** All new phrases, with reward or without. */
  any: readonly WrittenPhrase[];
  looked: readonly SaidRow[];
  /** The steps behind the timeline's indices. */
  steps: readonly number[];
}

/** The shares of the work after which the texts are read, and the rewarded ones compared. */
const READ = 0.5;
const COMPARED = 0.7;

type SaidFacts = Omit<MovementFacts, 'numberNames' | 'has' | 'isObserved'>;

/** Texts are read once, however many pages need them. Only the findings are cached, not the texts. */
const kept = new WeakMap<object, Promise<SaidChanges>>();

export function saidChanges(
  facts: SaidFacts,
  textOf: (row: number) => SaidText | null,
  rest: Rest,
): Promise<SaidChanges> {
  const look = (): Promise<SaidChanges> => lookedFor(facts, textOf, rest);
  const known = kept.get(facts) ?? facts.remember?.('phrases said', look) ?? look();
  kept.set(facts, known);
  // Work that was stopped is no answer.
  known.catch(() => kept.delete(facts));
  return known;
}

async function lookedFor(facts: SaidFacts, textOf: (row: number) => SaidText | null, rest: Rest): Promise<SaidChanges> {
  const { texts, steps } = await textRows(facts, textOf, random(1), partOfRest(rest, 0, READ));
  const written = (found: PhraseMovement): WrittenPhrase => {
    const [row] = found.rows;
    const said = row === undefined ? null : textOf(row);
    return { ...found, written: said === null ? found.phrase : asWritten(found.phrase, said[found.by]) };
  };
  return {
    rewarded: (await newPhrases(texts, steps.length, true, partOfRest(rest, READ, COMPARED))).map(written),
    any: (await newPhrases(texts, steps.length, false, partOfRest(rest, COMPARED, 1))).map(written),
    looked: texts.map(({ row, at, score, repeats }) => ({ row, at, score, repeats })),
    steps,
  };
}

const SEPARATOR = String.raw`[^\p{L}\p{N}_]{1,20}`;

/** A phrase with the capitals of its first place in a text, numbers still as 0; the phrase itself where it is not found. */
export function asWritten(phrase: string, text: string): string {
  const words = phrase.split(' ').map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const pattern = words.map((word) => `(${word.replaceAll('0', String.raw`\d+`)})`).join(SEPARATOR);
  const found = new RegExp(String.raw`(?<![\p{L}\p{N}_])${pattern}`, 'iu').exec(text);
  const written = found?.slice(1).join(' ').replaceAll(/\d+/g, '0') ?? phrase;
  return written.toLowerCase() === phrase ? written : phrase;
}

/** The number of rollouts whose texts are searched for phrases. */
const TEXTS = 3000;

/**
 * Sampled rollouts of all steps with their phrases, and the steps of their places. @param next a random number from 0
 * to 1
 */
async function textRows(
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
