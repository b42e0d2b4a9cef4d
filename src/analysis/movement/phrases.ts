import { float64At, itemAt } from '../../core/lists/at.ts';
import type { Rest } from '../rest.ts';
import { foreignLanguage } from './language.ts';
import { onsetOf, seenFirst } from './onset.ts';

/** The text of a rollout by who wrote it. */
export interface SaidText {
  model: string;
  tools: string;
}

export interface TextRow {
  row: number;
  /** The index in the timeline. */
  at: number;
  score: number;
  group: number;
  /** From `phrasesOf`, prefixed with m or t for the speaker. */
  phrases: readonly string[];
  /** The repetition in the model's text: see `mostSaid`. */
  repeats: number;
}

/** Words that appeared at some step and stayed. */
export interface PhraseMovement {
  /** As written, except for numbers. */
  phrase: string;
  by: keyof SaidText;
  /** The index in the timeline from which they appear. */
  at: number;
  /** The share that has them, among rollouts with similar scores. */
  before: number;
  after: number;
  /**
   * Of the rollouts with it after the change, the share that scored above the mean of their group; NaN if none can be
   * compared.
   */
  lift: number;
  /** The index in the timeline at which they begin, and at which their growth ends: the same where they came at once. */
  since: number;
  until: number;
  /** The logarithm of its p value, corrected for the phrases and places tested. */
  logP: number;
  /** The rollouts that have it from its beginning on, and those that had it before. */
  rows: readonly number[];
  earlier: readonly number[];
}

const MIN_ROWS = 4;
/** Only the two ends of longer texts are examined. */
const MOST_TEXT = 20_000;

/** Replaces any mark that ends a sentence; a full stop after a word stays part of the word. */
const SENTENCE_END = '!';

function wordsOf(text: string): string[] {
  const cut = text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT / 2)} ${text.slice(-MOST_TEXT / 2)}`;
  return (cut.toLowerCase().match(/[\p{L}_][\p{L}\p{N}_.]*|\d+|[.!?。！？](?=\s|$)|\n/gu) ?? []).map((word) =>
    /^[\p{L}\p{N}_]/u.test(word) ? word : SENTENCE_END,
  );
}

/** How often the most repeated run of words occurs. */
export function mostSaid(text: string): number {
  const words = wordsOf(text).filter((word) => word !== SENTENCE_END);
  const counts = new Map<string, number>();
  let most = 0;
  for (let i = 0; i + IN_A_ROW <= words.length; i++) {
    const said = words.slice(i, i + IN_A_ROW).join(' ');
    const count = (counts.get(said) ?? 0) + 1;
    counts.set(said, count);
    if (count > most) most = count;
  }
  return most;
}

const IN_A_ROW = 5;

/** The phrases of a rollout, prefixed with m or t for the speaker. */
export const phrasesBy = ({ model, tools }: SaidText): string[] => [
  ...Array.from(phrasesOf(model), (phrase) => `m${phrase}`),
  ...Array.from(phrasesOf(tools), (phrase) => `t${phrase}`),
];

/** The beginning of the phrase for a language; its capital occurs in no other phrase. */
const IN_LANGUAGE = 'written in ';

/** The language that a phrase names; null for an ordinary phrase. */
export const languageSaid = (phrase: string): string | null =>
  phrase.startsWith(IN_LANGUAGE) && phrase !== phrase.toLowerCase() ? phrase.slice(IN_LANGUAGE.length) : null;

/**
 * Words and pairs of words in one sentence, numbers as 0, and the language if it is not English. Texts phrased
 * differently each time share none; copied texts do.
 */
function phrasesOf(text: string): Set<string> {
  const words = wordsOf(text);
  const phrases = new Set<string>();
  let before = '';
  const plain: string[] = [];
  for (const word of words) {
    if (word === SENTENCE_END) {
      before = '';
      continue;
    }
    const one = /^\d/.test(word) ? '0' : word.replace(/\.+$/, '').replaceAll(/\d+/g, '0').slice(0, 40);
    phrases.add(one);
    plain.push(one);
    if (before !== '') phrases.add(`${before} ${one}`);
    before = word.endsWith('.') ? '' : one;
  }
  const language = foreignLanguage(plain);
  if (language !== null) phrases.add(`${IN_LANGUAGE}${language}`);
  return phrases;
}

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
  const candidates = [...found].filter(([, own]) => own.length >= MIN_ROWS);
  const correction = Math.log(Math.max(1, candidates.length)) + Math.log(Math.max(1, places));
  const movements: Candidate[] = [];
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
  const clear = apartMovements(movements, counted).filter(({ logP }) => logP < WORTH);
  const holders = holdersOf(clear, rows);
  const having = (movement: PhraseMovement) => holders.get(phraseKey(movement)) ?? [];
  return clear.flatMap((movement) => withRows(movement, having(movement), rows, places, means) ?? []);
}

/** Phrases that chance explains as well as this are nobody's business. */
const WORTH = Math.log(1e-3);

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

/** The number of units at each place. A unit is a group, or a rollout without one. */
function unitsOf(rows: readonly TextRow[], places: number): Float64Array {
  const seen = new Set<number>();
  const units = new Float64Array(places);
  for (const { at, group } of rows) {
    if (group >= 0 && seen.has(group)) continue;
    if (group >= 0) seen.add(group);
    units[at] = float64At(units, at) + 1;
  }
  return units;
}

/**
 * The split that best separates rare from common (the largest likelihood ratio), if the phrase becomes more frequent
 * and stays.
 */
function bestSplit(own: readonly number[], rows: readonly TextRow[], units: Float64Array, places: number) {
  const having = unitsOf(
    own.map((i) => itemAt(rows, i)),
    places,
  );
  const all = units.reduce((sum, one) => sum + one, 0);
  const some = having.reduce((sum, one) => sum + one, 0);
  let best: { at: number; logP: number; before: number; after: number } | null = null;
  let [beforeAll, before] = [0, 0];
  for (let at = 1; at < places; at++) {
    beforeAll += float64At(units, at - 1);
    before += float64At(having, at - 1);
    const [afterAll, after] = [all - beforeAll, some - before];
    if (beforeAll < MIN_ROWS || afterAll < MIN_ROWS || after < MIN_ROWS) continue;
    const [low, high] = [before / beforeAll, after / afterAll];
    if (high <= low * 2) continue;
    const gain = likelihood(before, beforeAll) + likelihood(after, afterAll) - likelihood(some, all);
    // Wilks: twice the gain is a chi square of one degree; its tail is about exp(-gain).
    if (best === null || -gain < best.logP) best = { at, logP: -gain, before: low, after: high };
  }
  return best;
}

const likelihood = (k: number, n: number): number =>
  k === 0 || k === n ? 0 : k * Math.log(k / n) + (n - k) * Math.log(1 - k / n);

/** A movement and all rollouts that have its phrase, before and after its change. */
interface Candidate extends PhraseMovement {
  holders: ReadonlySet<number>;
}

/** Only this many of the clearest movements are compared with each other. */
const MOST_COMPARED = 400;

/** Merges phrases that another one explains into one movement, named by the clearest and longest. */
function apartMovements(movements: readonly Candidate[], rows: readonly TextRow[]): PhraseMovement[] {
  const kept: Candidate[] = [];
  for (const movement of movements.slice(0, MOST_COMPARED)) {
    const place = kept.findIndex((one) => explains(one, movement, rows));
    const known = kept[place];
    if (known === undefined) kept.push(movement);
    // "to" is in most of the new sentences: more frequent than any of them, but it says nothing.
    else if (!isTelling(known.phrase) && isTelling(movement.phrase) && isAsNew(movement, known)) kept[place] = movement;
  }
  return kept.map(({ holders: _, ...movement }) => movement);
}

const isAsNew = (one: Candidate, other: Candidate): boolean =>
  one.by === other.by && beganTogether(one, other) && one.before <= other.before + 0.02;

/** A phrase with a word of some length, not only `it` or `on a`. */
const isTelling = (phrase: string): boolean => /[\p{L}_]{4}|[^\p{Script=Latin}\d\s_.]/u.test(phrase);

/** Most of its rollouts also have the other phrase. */
const MOSTLY = 0.6;
/** Without the other phrase it is rarer by this factor, so it depends on it. */
const RARER = 0.5;

/**
 * Does one phrase explain another? Sharing most rollouts is not enough if nearly all rollouts have the first: the
 * second must also be rarer in rollouts of the same time that lack the first, or one speaker began with both at once.
 */
function explains(one: Candidate, other: Candidate, rows: readonly TextRow[]): boolean {
  let common = 0;
  for (const i of other.holders) if (one.holders.has(i)) common++;
  const union = one.holders.size + other.holders.size - common;
  if (common >= MOSTLY * union)
    return (one.by === other.by && beganTogether(one, other)) || isRarerWithout(one, other, rows);
  if (common < MOSTLY * other.holders.size)
    return common >= MOSTLY * one.holders.size && isRarerWithout(other, one, rows);
  return isRarerWithout(one, other, rows);
}

const beganTogether = (one: Candidate, other: Candidate): boolean => Math.abs(one.at - other.at) <= 2;

/**
 * After both changes, is `other` rarer without `one`? If nearly all rollouts have `one`, or nearly none, they count as
 * dependent only if both have the same speaker or began together.
 */
function isRarerWithout(one: Candidate, other: Candidate, rows: readonly TextRow[]): boolean {
  const from = Math.max(one.at, other.at);
  let [having, havingBoth, lacking, lackingBoth] = [0, 0, 0, 0];
  for (const [i, { at }] of rows.entries()) {
    if (at < from) continue;
    const has = other.holders.has(i);
    if (one.holders.has(i)) {
      having++;
      havingBoth += Number(has);
    } else {
      lacking++;
      lackingBoth += Number(has);
    }
  }
  if (lacking < MIN_ROWS || having < MIN_ROWS) return one.by === other.by || beganTogether(one, other);
  return lackingBoth / lacking < RARER * (havingBoth / having);
}
