import { fitLeft, truncate } from '../../../core/text/fit.ts';
import type { Piece } from '../../present/line.ts';
import { keyMenu } from '../keys/key-menu.ts';
import { keyLabel } from '../keys/keymap.ts';
import { columnWidth, type NamedLine } from './kit.ts';
import type { Scene } from './scene.ts';

/** Cells of a column: longer titles are cut. */
const COLUMN = 38;
const KEY = 3;

export interface KeyMenuView {
  title: readonly Piece[];
  /** Lines of each column. */
  columns: readonly (readonly NamedLine[])[];
  /** Rows, including the title. */
  height: number;
}

/** The continuations of the typed keys; null while no menu is open. @param room the most rows it may take */
export function keyMenuView({ state, data }: Scene, width: number, room: number): KeyMenuView | null {
  const { keys } = state;
  if (!keys.isMenuOpen || keys.sequence === '') return null;
  const most = Math.max(1, Math.floor(width / COLUMN));
  // One cell is left before the next column.
  const cells = columnWidth(width, most) - KEY - 3;
  const lines: NamedLine[] = [];
  for (const [category, entries] of keyMenu(keys.sequence, state, data)) {
    lines.push({ id: category, pieces: [['heading', ` ${category}`]] });
    for (const { command, keys: rest, reason } of entries)
      lines.push({
        id: `${rest} ${command.id}`,
        pieces: [
          [reason === null ? 'accent' : 'quiet', ` ${fitLeft(rest, KEY)} `],
          reason === null
            ? ['plain', truncate(command.title, cells)]
            : ['quiet', truncate(`${command.title} (${reason})`, cells)],
        ],
      });
  }
  const height = Math.min(Math.ceil(lines.length / most), Math.max(1, room - 1));
  const columns: NamedLine[][] = [];
  for (let from = 0; from < lines.length && columns.length < most; from += height)
    columns.push(lines.slice(from, from + height));
  const help = data.keys.label('help');
  const title: Piece[] = [
    ['accent', ` ${keyLabel(keys.sequence)} `],
    ['quiet', `…  ${help} searches, Esc leaves`],
  ];
  return { title, columns, height: height + 1 };
}
