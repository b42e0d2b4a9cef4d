import { take } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { type DiffLine, diffTexts } from '../../replay/index.ts';

const GAP = ' │ ';

/** Two texts in two columns: lines that differ are marked, and equal ones far from them are left out. */
export function sideBySide(recorded: string | null, fresh: string | null, width: number): string[] {
  const half = Math.max(20, Math.floor((width - GAP.length - 4) / 2));
  // A long line goes on below: the words that differ may be at its end.
  const row = (left: string, right: string, sign: string): string => {
    const [one, two] = [pieces(left, half), pieces(right, half)];
    return Array.from({ length: Math.max(one.length, two.length) }, (_, at) =>
      `  ${at === 0 ? sign : ' '} ${padded(one[at] ?? '', half)}${GAP}${two[at] ?? ''}`.trimEnd(),
    ).join('\n');
  };
  const head = row('recorded', 'now', ' ');
  if (recorded === null || fresh === null)
    return [
      head,
      ...(recorded ?? fresh ?? '')
        .split('\n')
        .slice(0, MOST)
        .map((line) => (recorded === null ? row('(nothing)', line, '>') : row(line, '(nothing)', '<'))),
    ];
  const lines = diffTexts(recorded, fresh) ?? [];
  const rows: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line === undefined) break;
    if (line.op === 'same') rows.push(row(line.text, line.text, ' '));
    else if (line.op === 'skipped') rows.push(`    … ${line.lines} equal lines`);
    else if (line.op === 'left_out')
      rows.push(`    … ${line.removed} recorded lines and ${line.added} new ones are left out`);
    if (line.op !== 'removed' && line.op !== 'added') {
      at++;
      continue;
    }
    const [left, right] = [sideRun(lines, at, 'removed'), sideRun(lines, at, 'added')];
    const removed = left.length > 0 ? left : [];
    const added = left.length > 0 ? sideRun(lines, at + left.length, 'added') : right;
    for (let i = 0; i < Math.max(removed.length, added.length); i++)
      rows.push(row(removed[i] ?? '', added[i] ?? '', i >= added.length ? '<' : i >= removed.length ? '>' : '|'));
    at += removed.length + added.length;
  }
  return [head, ...rows.slice(0, MOST)];
}

/** Nobody reads more to see where two texts part. */
const MOST = 60;

function sideRun(lines: readonly DiffLine[], from: number, op: 'removed' | 'added'): string[] {
  const found: string[] = [];
  for (let at = from; at < lines.length; at++) {
    const line = lines[at];
    if (line?.op !== op) break;
    found.push(line.text);
  }
  return found;
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - cellWidth(text)));

/** A line of a prompt may be a page long. */
const MOST_PIECES = 12;

function pieces(text: string, width: number): string[] {
  const found: string[] = [];
  for (let rest = sanitiseLine(text); rest !== '' && found.length < MOST_PIECES; ) {
    const piece = take(rest, width) || rest.slice(0, 1);
    found.push(piece);
    rest = rest.slice(piece.length);
  }
  return found.length === 0 ? [''] : found;
}
