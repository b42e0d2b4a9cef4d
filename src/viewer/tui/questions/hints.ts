import { truncate } from '../../../core/text/fit.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Piece } from '../../present/line.ts';

/** The planned action and its place, and the available keys. */
export interface QuestionParts {
  what: Piece[];
  hints: readonly Hint[];
}

export type Hint = readonly [key: string, word: string];

/** Keys and what they do, closer together if there is little room, on as many lines as they need. */
export function hintLines(hints: readonly Hint[], width: number): Piece[][] {
  const gap = cellsOf(hints) + 2 * hints.length <= width ? '  ' : ' ';
  const lines: Piece[][] = [];
  let room = 0;
  for (const [key, word] of hints) {
    const cells = cellWidth(`${key} ${word}`);
    const isFirst = room < gap.length + cells;
    if (isFirst) {
      lines.push([]);
      room = width - 1;
    } else room -= gap.length;
    lines.at(-1)?.push(['accent', `${isFirst ? ' ' : gap}${key}`], ['quiet', ` ${word}`]);
    room -= cells;
  }
  return lines;
}

export const cellsOf = (all: readonly Hint[]): number =>
  all.reduce((sum, [key, word]) => sum + cellWidth(`${key} ${word}`), 0);

/** Data must not push the rest of a question off the screen. */
export const nameFromData = (name: string): string => truncate(sanitiseLine(name), 60);
