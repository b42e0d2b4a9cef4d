import { type Piece, piecesWidth, renderPieces } from '../../present/line.ts';
import type { Theme } from '../../present/theme.ts';
import type { Data } from '../rows/data.ts';
import type { State } from '../state/state.ts';
import { type MenuEntry, markEntries, sortEntries } from '../update/menu-entries.ts';

/** What a menu of the list asks, in a line at the foot; null while none is open. */
export function menuLine(state: State, data: Data, theme: Theme, width: number): string | null {
  const { menu } = state.list;
  if (menu === null) return null;
  if (menu.kind === 'columns')
    return renderPieces(
      theme,
      keys([
        ['j/k', ''],
        ['space', 'shows or hides'],
        ['d', 'as at first'],
        ['Esc', 'done'],
      ]),
      width,
    );
  if (menu.kind === 'mark') return renderPieces(theme, [['plain', ' mark with a letter …']], width);
  if (menu.kind === 'go') return entriesLine(' go to', markEntries(state), menu.cursor, theme, width);
  return entriesLine(' sort by', sortEntries(state, data), menu.cursor, theme, width);
}

const keys = (pairs: readonly (readonly [string, string])[]): Piece[] =>
  pairs.flatMap(([key, word]): Piece[] => [
    ['accent', ` ${key}`],
    ['quiet', word === '' ? '' : ` ${word} `],
  ]);

/** As many as there is room for, that of the cursor among them; that there are more is said on either side. */
function entriesLine(
  title: string,
  entries: readonly MenuEntry[],
  cursor: number,
  theme: Theme,
  width: number,
): string {
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
  return renderPieces(theme, [['plain', title], ...shown], width);
}
