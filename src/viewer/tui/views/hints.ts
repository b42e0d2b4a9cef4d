import { cellWidth } from '../../../core/text/graphemes.ts';
import type { Piece } from '../../present/line.ts';

/** The planned action and its place, and the available keys. */
export type QuestionLines = [what: Piece[], keys: Piece[]];

export type Hint = readonly [key: string, word: string];

/** Keys and what they do, closer together if there is little room. */
export function keys(all: readonly Hint[], width: number): Piece[] {
  const gap = cellsOf(all) + 2 * all.length <= width ? '  ' : ' ';
  return all.flatMap(([key, word], i): Piece[] => [
    ['accent', `${i === 0 ? ' ' : gap}${key}`],
    ['quiet', ` ${word}`],
  ]);
}

export const cellsOf = (all: readonly Hint[]): number =>
  all.reduce((sum, [key, word]) => sum + cellWidth(`${key} ${word}`), 0);
