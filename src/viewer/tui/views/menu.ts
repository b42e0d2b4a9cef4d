import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { type Piece, piecesWidth } from '../../present/line.ts';
import type { Data } from '../rows/data.ts';
import type { State } from '../state/state.ts';
import { type MenuEntry, markEntries, sortEntries } from '../update/menu-entries.ts';

/** The question of a list menu, for the foot; null while none is open. */
export function menuPieces(state: State, data: Data, width: number): Piece[] | null {
  const { menu } = state.list;
  if (menu === null) return null;
  if (menu.kind === 'columns')
    return keys([
      ['j/k', ''],
      ['space', 'shows or hides'],
      ['d', 'as at first'],
      ['Esc', 'done'],
    ]);
  if (menu.kind === 'label')
    return [
      ['plain', ` ${sanitiseLine(state.labels.rater)} labels: `],
      ['accent', 'a letter'],
      ...keys([
        ['  Enter', 'a word'],
        ['space', 'a note'],
        ['+', 'a set'],
        ['-', 'takes it back'],
        ['Esc', ''],
      ]),
    ];
  if (menu.kind === 'mark') return [['plain', ' mark with a letter …']];
  if (menu.kind === 'go') return entriesLine(' go to', markEntries(state), menu.cursor, width);
  return entriesLine(' sort by', sortEntries(state, data), menu.cursor, width);
}

const keys = (pairs: readonly (readonly [string, string])[]): Piece[] =>
  pairs.flatMap(([key, word]): Piece[] => [
    ['accent', ` ${key}`],
    ['quiet', word === '' ? '' : ` ${word} `],
  ]);

/** As many entries as fit, including the cursor's, with a sign on either side if there are more. */
function entriesLine(title: string, entries: readonly MenuEntry[], cursor: number, width: number): Piece[] {
  const pieces = entries.map(({ key, title: word }, i): Piece[] => [
    ['plain', '  '],
    ['accent', key],
    [i === cursor ? 'strong' : 'quiet', ` ${word}`],
  ]);
  const room = width - title.length - 4;
  const widthOf = (from: number, to: number): number => piecesWidth(pieces.slice(from, to).flat());
  let from = 0;
  while (from < cursor && widthOf(from, cursor + 1) > room) from++;
  let to = cursor + 1;
  while (to < pieces.length && widthOf(from, to + 1) <= room) to++;
  const more = (isMore: boolean): Piece[] => (isMore ? [['quiet', ' …']] : []);
  const shown = [...more(from > 0), ...pieces.slice(from, to).flat(), ...more(to < pieces.length)];
  return [['plain', title], ...shown];
}
