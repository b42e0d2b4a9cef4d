import { itemAt } from '../../core/lists/at.ts';
import { lazily } from '../../core/text/lazily.ts';
import { wordsIn } from './language.ts';
import { beganTogether, RARER } from './phrase-causes.ts';
import { bestSplit, type PhraseCandidate, unitsOf, WORTH } from './phrase-split.ts';
import { languageSaid, type TextRow } from './phrases.ts';

/** Words of a language that more of the earlier rollouts have are English too. */
const ENGLISH = 0.02;
/** Two words are of one sentence if they are next to each other in this share of the rollouts with the rarer one. */
const BESIDE = 0.1;
/** A word that is so often next to any word of the language is one of its words. */
const OFTEN = 0.3;
/** Fewer rollouts without a word of the language say nothing about a phrase. */
const ENOUGH = 20;

/**
 * Drops the words of a language that a speaker began to write, because the language has a phrase of its own. A phrase
 * that begins beside the language is kept: rollouts without a word of the language have it too, or it is new among
 * those in the language.
 */
export function withoutWordsOfLanguages(
  movements: readonly PhraseCandidate[],
  rows: readonly TextRow[],
  places: number,
  correction: number,
): readonly PhraseCandidate[] {
  const isLanguage = ({ phrase }: PhraseCandidate): boolean => languageSaid(phrase) !== null;
  const brought = movements
    .filter((one) => isLanguage(one) && one.logP < WORTH)
    .map((language) => wordsBroughtBy(language, rows, places, correction));
  return brought.length === 0
    ? movements
    : movements.filter((one) => isLanguage(one) || !brought.some((isBrought) => isBrought(one)));
}

function wordsBroughtBy(
  language: PhraseCandidate,
  rows: readonly TextRow[],
  places: number,
  correction: number,
): (other: PhraseCandidate) => boolean {
  const { by, at: since, holders } = language;
  const sign = by === 'model' ? 'm' : 't';
  const { isWord: isListed, areAll } = wordsIn(languageSaid(language.phrase) ?? '');
  const before = rows.filter(({ at }) => at < since);
  const earlier = countsOf(before);
  const isNew = (phrase: string): boolean =>
    phrase[0] === sign && (earlier.get(phrase) ?? 0) <= ENGLISH * before.length;
  const isWord = (phrase: string): boolean => isNew(phrase) && isListed(phrase.slice(1));
  const untouched = new Set(rows.flatMap(({ phrases }, i) => (phrases.some(isWord) ? [] : i)));
  const spoken = [...holders];
  const spokenRows = spoken.map((i) => itemAt(rows, i));
  const units = unitsOf(spokenRows, places);
  const ofSentences = lazily(() => wordsBeside(spokenRows, isWord, areAll ? isWord : isNew));

  function isNewAmongSpoken(other: PhraseCandidate): boolean {
    const own = spoken.flatMap((i, place) => (other.holders.has(i) ? place : []));
    const best = bestSplit(own, spokenRows, units, places);
    return best !== null && best.logP + correction < WORTH;
  }
  return (other) => {
    if (other.by !== by || isNewAmongSpoken(other)) return false;
    const [among, without] = [new Share(), new Share()];
    for (const [i, { at }] of rows.entries()) {
      if (at < other.at) continue;
      if (untouched.has(i)) without.add(other.holders.has(i));
      else if (holders.has(i)) among.add(other.holders.has(i));
    }
    if (without.of >= ENOUGH) return without.value < RARER * among.value;
    return !beganTogether(language, other) || other.phrase.split(' ').some((word) => ofSentences().has(sign + word));
  };
}

function countsOf(rows: readonly TextRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { phrases } of rows) for (const phrase of phrases) counts.set(phrase, (counts.get(phrase) ?? 0) + 1);
  return counts;
}

/** The words of a language, and the new words of its sentences. */
function wordsBeside(
  rows: readonly TextRow[],
  isWord: (phrase: string) => boolean,
  isNew: (phrase: string) => boolean,
): Set<string> {
  const counts = countsOf(rows);
  const words = [...counts.keys()].filter((phrase) => !phrase.includes(' ') && isNew(phrase));
  const found = new Set(words.filter(isWord));
  const pairs = [...counts].flatMap(([phrase, count]): { a: string; b: string; count: number }[] => {
    const [a = '', word] = phrase.split(' ');
    const b = `${a[0]}${word}`;
    return word === undefined || !isNew(a) || !isNew(b) ? [] : [{ a, b, count }];
  });
  const beside = new Map<string, number>();
  for (const { a, b, count } of pairs) {
    if (found.has(a)) beside.set(b, (beside.get(b) ?? 0) + count);
    if (found.has(b)) beside.set(a, (beside.get(a) ?? 0) + count);
  }
  const often = (word: string): number => counts.get(word) ?? 0;
  for (const [word, count] of beside) if (count >= OFTEN * often(word)) found.add(word);
  const fixed = pairs.filter(({ a, b, count }) => count >= BESIDE * Math.min(often(a), often(b)));
  for (;;) {
    const next = fixed.filter(({ a, b }) => found.has(a) !== found.has(b));
    if (next.length === 0) return found;
    for (const { a, b } of next) found.add(a).add(b);
  }
}

class Share {
  of = 0;
  #having = 0;

  add(has: boolean): void {
    this.of++;
    this.#having += Number(has);
  }

  get value(): number {
    return this.#having / this.of;
  }
}
