import { type Piece, piecesWidth, renderPieces } from '../../present/line.ts';
import type { Theme } from '../../present/theme.ts';
import { type MenuEntry, markEntries, sortEntries } from '../list/menus.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';

/** What a menu of the list asks, in a line at the foot; null while none is open. */
export function menuLine(state: State, world: World, theme: Theme, width: number): string | null {
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
  if (menu.kind === 'go') return entriesLine(' go to ', markEntries(state), menu.cursor, theme, width);
  return entriesLine(' sort by ', sortEntries(state, world), menu.cursor, theme, width);
}

const keys = (pairs: readonly (readonly [string, string])[]): Piece[] =>
  pairs.flatMap(([key, word]): Piece[] => [
    ['accent', ` ${key}`],
    ['quiet', word === '' ? '' : ` ${word} `],
  ]);

/** In what does not fit, the entry that the cursor is on is shown. */
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
  let from = 0;
  const room = width - piecesWidth([['plain', title]]) - 2;
  while (from < cursor && piecesWidth(pieces.slice(from, cursor + 1).flat()) > room) from++;
  const before: Piece[] = from > 0 ? [['quiet', ' …']] : [];
  return renderPieces(theme, [['plain', title.trimEnd()], ...before, ...pieces.slice(from).flat()], width);
}
