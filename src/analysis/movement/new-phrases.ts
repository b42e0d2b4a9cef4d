import { float64At } from '../../core/lists/at.ts';
import type { Rest } from '../rest.ts';
import { withoutWordsOfLanguages } from './language-words.ts';
import { onsetOf, seenFirst } from './onset.ts';
import { apartMovements } from './phrase-causes.ts';
import { bestSplit, FEWEST_ROWS, type PhraseCandidate, type PhraseMovement, unitsOf, WORTH } from './phrase-split.ts';
import type { TextRow } from './phrases.ts';

/**
 * Phrases that were rare and then are not, the clearest first. They are counted by group, because rollouts of one
 * prompt share its words. `isRewarded`: count only rollouts with high reward, so that phrases that merely come with
 * learning do not appear.
 */
export async function newPhrases(
  rows: readonly TextRow[],
  places: number,
  isRewarded: boolean,
  rest: Rest = () => undefined,
): Promise<PhraseMovement[]> {
  const means = groupMeans(rows);
  const top = topScore(rows);
  const counted = isRewarded ? rows.filter(({ score }) => score >= top) : rows;
  const units = unitsOf(counted, places);
  const found = new Map<string, number[]>();
  for (const [i, { phrases }] of counted.entries()) {
    for (const phrase of phrases) {
      const known = found.get(phrase);
      if (known) known.push(i);
      else found.set(phrase, [i]);
    }
    await rest();
  }
  const candidates = [...found].filter(([, own]) => own.length >= FEWEST_ROWS);
  const correction = Math.log(Math.max(1, candidates.length)) + Math.log(Math.max(1, places));
  const movements: PhraseCandidate[] = [];
  for (const [done, [key, own]] of candidates.entries()) {
    await rest(done, candidates.length);
    const best = bestSplit(own, counted, units, places);
    if (best === null) continue;
    movements.push({
      phrase: key.slice(1),
      by: key[0] === 'm' ? 'model' : 'tools',
      at: best.at,
      before: best.before,
      after: best.after,
      lift: Number.NaN,
      since: best.at,
      until: best.at,
      logP: Math.min(0, best.logP + correction),
      rows: [],
      earlier: [],
      holders: new Set(own),
    });
  }
  // The longest phrase of the same rollouts is the most informative.
  movements.sort((a, b) => a.logP - b.logP || b.phrase.length - a.phrase.length || (a.phrase < b.phrase ? -1 : 1));
  const named = withoutWordsOfLanguages(movements, counted, places, correction);
  const clear = apartMovements(named, counted).filter(({ logP }) => logP < WORTH);
  const holders = holdersOf(clear, rows);
  const having = (movement: PhraseMovement) => holders.get(phraseKey(movement)) ?? [];
  return clear.flatMap((movement) => withRows(movement, having(movement), rows, places, means) ?? []);
}

const phraseKey = ({ by, phrase }: Pick<PhraseMovement, 'by' | 'phrase'>): string =>
  `${by === 'model' ? 'm' : 't'}${phrase}`;

/** All rows that have a phrase, by phrase. */
function holdersOf(movements: readonly PhraseMovement[], rows: readonly TextRow[]): Map<string, TextRow[]> {
  const holders = new Map(movements.map((movement) => [phraseKey(movement), [] as TextRow[]]));
  for (const row of rows) for (const phrase of row.phrases) holders.get(phrase)?.push(row);
  return holders;
}

/** A phrase that is hardly more frequent among all rollouts came with its prompts or with learning. */
const OFTENER = 1.5;

/**
 * Adds its course and the rollouts that have the phrase from its beginning on, the best score first, whether or not
 * they were counted; null if all rollouts together do not have it more often than before.
 */
function withRows(
  movement: PhraseMovement,
  all: readonly TextRow[],
  rows: readonly TextRow[],
  places: number,
  means: ReadonlyMap<number, number>,
): PhraseMovement | null {
  const [counts, shares] = [new Float64Array(places), new Float64Array(places)];
  for (const { at } of rows) counts[at]!++;
  for (const { at } of all) shares[at]! += 1 / counts[at]!;
  const fitted = onsetOf(shares, counts, true, movement.at);
  const onset = fitted && seenFirst(shares, counts, fitted);
  const since = onset?.since ?? movement.at;
  const having = all.filter(({ at }) => at >= since);
  const after = counts.subarray(since).reduce((sum, one) => sum + one, 0);
  const before = rows.length - after;
  if (having.length / after < (OFTENER * (all.length - having.length)) / Math.max(1, before)) return null;
  const compared = having.flatMap(({ score, group }) => {
    const mean = means.get(group);
    return mean === undefined ? [] : [score > mean];
  });
  return {
    ...movement,
    since,
    until: onset?.until ?? since,
    lift: compared.length === 0 ? Number.NaN : compared.filter(Boolean).length / compared.length,
    earlier: all.filter(({ at }) => at < since).map(({ row }) => row),
    rows: having.sort((a, b) => (b.score || 0) - (a.score || 0) || a.row - b.row).map(({ row }) => row),
  };
}

/** The mean score of each group whose scores differ. */
function groupMeans(rows: readonly TextRow[]): Map<number, number> {
  const groups = new Map<number, number[]>();
  for (const { group, score } of rows)
    if (group >= 0 && Number.isFinite(score)) groups.set(group, [...(groups.get(group) ?? []), score]);
  return new Map(
    [...groups].flatMap(([group, scores]): [number, number][] =>
      scores.some((score) => score !== scores[0]) ? [[group, scores.reduce((a, b) => a + b, 0) / scores.length]] : [],
    ),
  );
}

/** The score that the best third reaches. */
function topScore(rows: readonly TextRow[]): number {
  const scores = Float64Array.from(rows, ({ score }) => score)
    .filter(Number.isFinite)
    .sort();
  return scores.length === 0 ? Number.NEGATIVE_INFINITY : float64At(scores, Math.floor((scores.length - 1) * (2 / 3)));
}
