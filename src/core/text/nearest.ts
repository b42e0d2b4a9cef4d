import { itemAt, numberInAt } from '../lists/at.ts';

/** Counts letters omitted, inserted, changed or swapped with their neighbour (optimal string alignment). */
export function typingSlips(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = numberInAt(itemAt(rows, i - 1), j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? numberInAt(itemAt(rows, i - 2), j - 2) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(numberInAt(itemAt(rows, i - 1), j) + 1, numberInAt(row, j - 1) + 1, changed, swapped));
    }
    rows.push(row);
  }
  return numberInAt(itemAt(rows, a.length), b.length);
}

/** The candidate with the fewest typos relative to `word`, the first of several; null if each has more than `most`. */
export function nearestWord(
  word: string,
  candidates: readonly string[],
  most: (candidate: string) => number,
): string | null {
  let best: { candidate: string; slips: number } | null = null;
  for (const candidate of candidates) {
    const limit = most(candidate);
    // The difference in length is a lower bound, so most candidates need no table.
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const slips = typingSlips(word, candidate);
    if (slips <= limit && (best === null || slips < best.slips)) best = { candidate, slips };
  }
  return best?.candidate ?? null;
}

/** Up to this many typos, one name is taken for another. */
const NEAR = 2;

/** The name that was probably meant, whatever its case; null if none is near. */
export const nearestName = (typed: string, known: readonly string[]): string | null =>
  nearestWord(typed.toLowerCase(), known, (name) => Math.max(1, Math.min(NEAR, name.length - 2)));
