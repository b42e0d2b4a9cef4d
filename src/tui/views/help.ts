import { type Piece, piecesWidth, renderPieces } from '../../present/line.ts';
import { fitLeft } from '../../text/fit.ts';
import { type HelpEntry, helpEntries } from '../keys/help.ts';
import type { View } from './view.ts';

const KEYS_WIDTH = 18;
/** A screen as wide as this has two columns side by side. */
const TWO_COLUMNS = 150;

/** What can be done, by kind; the cursor on one of them, and what cannot be done now quiet, with the reason. */
export const helpView: View = ({ state, data, theme }, width, height) => {
  const entries = helpEntries(state, data, state.prompt?.value ?? '');
  const at = Math.min(state.help?.cursor ?? 0, entries.length - 1);
  const columns = width >= TWO_COLUMNS ? 2 : 1;
  const column = Math.floor(width / columns);
  const lines: Piece[][] = [];
  let here = 0;
  let heading = '';
  for (const [i, entry] of entries.entries()) {
    if (entry.heading !== heading) {
      if (heading !== '') lines.push([]);
      heading = entry.heading;
      lines.push([['heading', `  ${heading}`]]);
    }
    if (i === at) here = lines.length;
    lines.push(entryPieces(entry, i === at, column));
  }
  if (entries.length === 0) lines.push([['quiet', '  no command is called so; Backspace goes back']]);
  const room = height * columns;
  const top = Math.max(0, Math.min(here - Math.floor(room / 2), lines.length - room));
  return lines.slice(top, top + height).map((left, row) => {
    const right = columns === 1 ? undefined : lines[top + height + row];
    const drawn = renderPieces(theme, left, column);
    if (right === undefined) return drawn;
    return drawn + ' '.repeat(Math.max(0, column - piecesWidth(left))) + renderPieces(theme, right, column);
  });
};

function entryPieces({ command, keys, reason }: HelpEntry, isHere: boolean, width: number): Piece[] {
  const isQuiet = reason !== null;
  const pieces: Piece[] = [
    ['accent', isHere ? '› ' : '  '],
    [isQuiet ? 'quiet' : 'accent', `${fitLeft(keys.length > 0 ? keys.join('  ') : `:${command.id}`, KEYS_WIDTH)} `],
    [isQuiet ? 'quiet' : isHere ? 'strong' : 'plain', command.title],
  ];
  if (reason === null) return pieces;
  const room = width - piecesWidth(pieces) - 4;
  return room > 8 ? [...pieces, ['quiet', `  (${reason})`]] : pieces;
}
