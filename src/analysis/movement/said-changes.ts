import { random } from '../chance.ts';
import { partOfRest, type Rest } from '../rest.ts';
import { asWritten } from './as-written.ts';
import type { MovementFacts } from './movement.ts';
import { newPhrases } from './new-phrases.ts';
import type { PhraseMovement } from './phrase-split.ts';
import type { SaidText } from './phrases.ts';
import { textRows } from './texts.ts';

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
