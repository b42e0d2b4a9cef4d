import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { toolCallsOf } from '../../core/rollout/rollout.ts';
import { fitLeft, truncateStart } from '../../core/text/fit.ts';
import { cellWidth } from '../../core/text/graphemes.ts';
import { scoreText, sizeText } from '../../core/text/quantities.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { findingWords } from './failure-word.ts';

/** Widths of the printed list; the locator comes first, so that a double click selects it for copying. */
export interface ListColumns {
  locator: number;
}

const MAX_LOCATOR = 60;
const DIM = '\u001b[2m';
const RED = '\u001b[31m';
const RESET = '\u001b[0m';

/** The columns fit the longest path and five digits of line number. */
export function listColumns(paths: readonly string[]): ListColumns {
  const longest = paths.reduce((width, path) => Math.max(width, cellWidth(sanitiseLine(path))), 0);
  return { locator: Math.min(MAX_LOCATOR, longest + 6) };
}

export const listHeader = ({ locator }: ListColumns): string =>
  `${fitLeft('rollout', locator)}   step sample   score turns calls     size  findings`;

/** One rollout on one line; nothing depends on colour. @param label people's labels */
export function listLine(row: DumpRecord, { locator }: ListColumns, colour: boolean, label = ''): string {
  const place = sanitiseLine(row.locator);
  const left = cellWidth(place) > locator ? truncateStart(place, locator) : fitLeft(place, locator);
  const { rollout } = row;
  if (rollout === null) {
    const error = sanitiseLine(row.error ?? '');
    return `${left} ${''.padStart(6)} ${String(row.sample).padStart(6)}  ${colour ? RED : ''}bad record: ${error}${colour ? RESET : ''}`;
  }
  const cells = [
    String(rollout.step ?? row.file.step ?? '–').padStart(6),
    String(row.sample).padStart(6),
    scoreText(rollout.score).padStart(7),
    String(rollout.turns.length).padStart(5),
    String(toolCallsOf(rollout).length).padStart(5),
    sizeText(row.bytes).padStart(8),
  ];
  const words = findingWords(row.findings);
  const note = words === '' ? '' : `  ${colour ? RED : ''}${words}${colour ? RESET : ''}`;
  const said = label === '' ? '' : `  [${label}]`;
  return `${colour ? DIM : ''}${left}${colour ? RESET : ''} ${cells.join(' ')}${note}${said}`;
}
