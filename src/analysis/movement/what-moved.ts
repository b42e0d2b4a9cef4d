import { numberInAt } from '../../core/lists/at.ts';
import { partOfRest, type Rest } from '../rest.ts';
import { type Movement, type MovementFacts, movements } from './movement.ts';
import type { PhraseMovement } from './phrase-split.ts';
import { languageSaid, type SaidText } from './phrases.ts';
import { type SaidChanges, saidChanges, type WrittenPhrase } from './said-changes.ts';

/** Words that a rewarded answer may contain by chance are left out. */
const CLEAR = 1e-6;
const MOST = 10;
const EXAMPLES = 3;
/** The share of the work that numbers take; texts take the rest. */
const NUMBERS = 0.25;

/** The numbers and words that moved with the reward: alarms first, then the clearest. */
export async function whatMoved(
  facts: MovementFacts,
  textOf: (row: number) => SaidText | null,
  rest: Rest = () => undefined,
): Promise<Movement[]> {
  const numbers = await movements(facts, partOfRest(rest, 0, NUMBERS));
  const said = await saidChanges(facts, textOf, partOfRest(rest, NUMBERS, 1));
  // A model's words count where it is rewarded; a tool that broke has few rewarded rollouts.
  const of = (speaker: PhraseMovement['by']) =>
    (speaker === 'model' ? said.rewarded : said.any)
      .filter(({ by }) => by === speaker)
      .map((phrase) => movementOf(phrase, said))
      .filter(({ p }) => p < CLEAR)
      .slice(0, MOST);
  return [...of('model'), ...of('tools'), ...numbers].sort(
    (a, b) => Number(b.isAlarm) - Number(a.isAlarm) || a.p - b.p,
  );
}

/** The name of a phrase among the numbers that moved. */
export function phraseName({ phrase, by }: Pick<PhraseMovement, 'phrase' | 'by'>): string {
  const language = languageSaid(phrase);
  return language === null ? `${by === 'model' ? 'says' : 'tool says'} "${phrase}"` : `language:${language}`;
}

function movementOf(phrase: WrittenPhrase, { looked, steps }: SaidChanges): Movement {
  const { before, after, by, lift, logP, rows, earlier: had, since, until } = phrase;
  const p = Math.exp(logP);
  const earlier = looked.filter((text) => text.at < since).sort((a, b) => (b.score || 0) - (a.score || 0));
  return {
    name: phraseName(phrase),
    within: Number.isNaN(lift) ? Number.NaN : 2 * lift - 1,
    withinP: 1,
    overSteps: Number.NaN,
    trend: Number.NaN,
    isTrend: since !== until,
    since: numberInAt(steps, since),
    until: numberInAt(steps, until),
    change: { at: since, jump: after - before, p, step: numberInAt(steps, since), before, after },
    p,
    isAlarm: p < CLEAR,
    alike: [],
    examples: { before: earlier.slice(0, EXAMPLES).map(({ row }) => row), after: rows.slice(0, EXAMPLES) },
    said: {
      by,
      phrase: phrase.phrase,
      written: phrase.written,
      lift,
      rows,
      earlier: had,
      looked: looked.map(({ row }) => row),
    },
  };
}
