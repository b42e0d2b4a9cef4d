import { fitLeft, truncate } from '../../../core/text/fit.ts';
import { type Piece, renderPieces } from '../../present/line.ts';
import { keyMenu } from '../keys/key-menu.ts';
import { keyLabel } from '../keys/keymap.ts';
import { columnLines, columnWidth } from './column-lines.ts';
import type { PaneView } from './scene.ts';

/** Cells of a column: longer titles are cut. */
const COLUMN = 38;
const KEY = 3;

/** The continuations of the typed keys below a title; no lines while no menu is open. @param room the most rows it may take */
export const keyMenuView: PaneView = ({ state, data, theme }, width, room) => {
  const { keys } = state;
  if (!keys.isMenuOpen || keys.sequence === '') return [];
  const most = Math.max(1, Math.floor(width / COLUMN));
  // One cell is left before the next column.
  const cells = columnWidth(width, most) - KEY - 3;
  const entries: (readonly Piece[])[] = [];
  for (const [category, commands] of keyMenu(keys.sequence, state, data)) {
    entries.push([['heading', ` ${category}`]]);
    for (const { command, keys: rest, reason } of commands)
      entries.push([
        [reason === null ? 'accent' : 'quiet', ` ${fitLeft(rest, KEY)} `],
        reason === null
          ? ['plain', truncate(command.title, cells)]
          : ['quiet', truncate(`${command.title} (${reason})`, cells)],
      ]);
  }
  const height = Math.min(Math.ceil(entries.length / most), Math.max(1, room - 1));
  const columns = Math.min(most, Math.ceil(entries.length / height));
  const title = renderPieces(
    theme,
    [
      ['accent', ` ${keyLabel(keys.sequence)} `],
      ['quiet', `…  ${data.keys.label('help')} searches, Esc leaves`],
    ],
    width,
  );
  return [title, ...columnLines(entries, columns, height, theme, width)];
};
