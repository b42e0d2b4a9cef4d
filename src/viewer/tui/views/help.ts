import { fitLeft } from '../../../core/text/fit.ts';
import { type Piece, piecesWidth } from '../../present/line.ts';
import { type HelpEntry, helpEntries } from '../keys/help.ts';
import { columnLines } from './column-lines.ts';
import type { PaneView } from './scene.ts';

const KEYS_WIDTH = 18;
/** A screen this wide has two columns side by side. */
const TWO_COLUMNS = 150;

const NOTHING_FOUND: readonly Piece[] = [['quiet', '  no such command; Backspace goes back']];

/** Commands by category, in one column or two, with a cursor; unavailable ones are quiet, with the reason. */
export const helpView: PaneView = ({ state, data, theme }, width, height) => {
  const entries = helpEntries(state, data, state.prompt?.value ?? '');
  const at = Math.min(state.help?.cursor ?? 0, entries.length - 1);
  const columns = width >= TWO_COLUMNS ? 2 : 1;
  const lines: (readonly Piece[])[] = [];
  let here = 0;
  let heading = '';
  for (const [i, entry] of entries.entries()) {
    if (entry.heading !== heading) {
      if (heading !== '') lines.push([]);
      heading = entry.heading;
      lines.push([['heading', `  ${heading}`]]);
    }
    if (i === at) here = lines.length;
    lines.push(entryPieces(entry, i === at, Math.floor(width / columns)));
  }
  if (entries.length === 0) lines.push(NOTHING_FOUND);
  const room = height * columns;
  const top = Math.max(0, Math.min(here - Math.floor(room / 2), lines.length - room));
  return columnLines(lines.slice(top, top + room), columns, height, theme, width);
};

function entryPieces({ command, title, keys, reason }: HelpEntry, isHere: boolean, width: number): Piece[] {
  const isQuiet = reason !== null;
  const pieces: Piece[] = [
    ['accent', isHere ? '› ' : '  '],
    [isQuiet ? 'quiet' : 'accent', `${fitLeft(keys.length > 0 ? keys.join('  ') : `:${command.id}`, KEYS_WIDTH)} `],
    [isQuiet ? 'quiet' : isHere ? 'strong' : 'plain', title],
  ];
  if (reason === null) return pieces;
  const room = width - piecesWidth(pieces) - 4;
  return room > 8 ? [...pieces, ['quiet', `  (${reason})`]] : pieces;
}
