import { FEWEST_ROWS, type PhraseCandidate, type PhraseMovement } from './phrase-split.ts';
import { languageSaid, type TextRow } from './phrases.ts';

/** Only this many of the clearest movements are compared with each other. */
const MOST_COMPARED = 400;

/** Merges phrases that another one explains into one movement, named by the clearest and longest. */
export function apartMovements(movements: readonly PhraseCandidate[], rows: readonly TextRow[]): PhraseMovement[] {
  const kept: PhraseCandidate[] = [];
  for (const movement of movements.slice(0, MOST_COMPARED)) {
    const place = kept.findIndex((one) => explains(one, movement, rows));
    const known = kept[place];
    if (known === undefined) kept.push(movement);
    // "to" is in most of the new sentences: more frequent than any of them, but it says nothing.
    else if (!isTelling(known.phrase) && isTelling(movement.phrase) && isAsNew(movement, known)) kept[place] = movement;
  }
  return kept.map(({ holders: _, ...movement }) => movement);
}

const isAsNew = (one: PhraseCandidate, other: PhraseCandidate): boolean =>
  one.by === other.by && beganTogether(one, other) && one.before <= other.before + 0.02;

/** A phrase with a word of some length, not only `it` or `on a`. */
const isTelling = (phrase: string): boolean => /[\p{L}_]{4}|[^\p{Script=Latin}\d\s_.]/u.test(phrase);

/** Most of its rollouts also have the other phrase. */
const MOSTLY = 0.6;
/** Without the other phrase it is rarer by this factor, so it depends on it. */
export const RARER = 0.5;

/**
 * Does one phrase explain another? Sharing most rollouts is not enough if nearly all rollouts have the first: the
 * second must also be rarer in rollouts of the same time that lack the first, or one speaker began with both at once.
 */
function explains(one: PhraseCandidate, other: PhraseCandidate, rows: readonly TextRow[]): boolean {
  // The words of a language are left out before: others began beside it.
  if ((languageSaid(one.phrase) === null) !== (languageSaid(other.phrase) === null)) return false;
  let common = 0;
  for (const i of other.holders) if (one.holders.has(i)) common++;
  const union = one.holders.size + other.holders.size - common;
  if (common >= MOSTLY * union)
    return (one.by === other.by && beganTogether(one, other)) || isRarerWithout(one, other, rows);
  if (common < MOSTLY * other.holders.size)
    return common >= MOSTLY * one.holders.size && isRarerWithout(other, one, rows);
  return isRarerWithout(one, other, rows);
}

export const beganTogether = (one: PhraseCandidate, other: PhraseCandidate): boolean =>
  Math.abs(one.at - other.at) <= 2;

/**
 * After both changes, is `other` rarer without `one`? If nearly all rollouts have `one`, or nearly none, they count as
 * dependent only if both have the same speaker or began together.
 */
function isRarerWithout(one: PhraseCandidate, other: PhraseCandidate, rows: readonly TextRow[]): boolean {
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
  if (lacking < FEWEST_ROWS || having < FEWEST_ROWS) return one.by === other.by || beganTogether(one, other);
  return lackingBoth / lacking < RARER * (havingBoth / having);
}
