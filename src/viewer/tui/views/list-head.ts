import { lastItem } from '../../../core/lists/at.ts';
import { formatCount, formatPercent } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { groupSummary } from '../../present/group-text.ts';
import { type Piece, piecesWidth, renderEdges } from '../../present/line.ts';
import type { Theme } from '../../present/theme.ts';
import type { Data } from '../rows/data.ts';
import { filterText } from '../state/list.ts';
import type { State } from '../state/state.ts';

/** `37 of 5,120`, with progress while still searching; '' if nothing is filtered. */
export function foundText(state: State, data: Data): string {
  const rows = data.rows(state);
  const filterProgress = data.filterProgress(state);
  if (filterProgress === null) return '';
  const { found, looked, total, isWhole, waitsForFacts } = filterProgress;
  if (isWhole) return `${formatCount(rows.length)} of ${formatCount(total)}`;
  return `${formatCount(found)} … ${total === 0 ? '' : `${waitsForFacts ? 'reading ' : ''}${formatPercent(looked / total)}`}`;
}

/** The line above the titles that says which part of the dump is listed; null for all of it. */
export function listHead(state: State, data: Data, theme: Theme, width: number): string | null {
  const { group, choice } = state.list;
  if (group !== null) return groupHead(state, data, theme, width);
  if (choice.filter === null) return null;
  const left: Piece[] = [
    ['accent', ' & '],
    ['strong', sanitiseLine(filterText(choice.filter))],
  ];
  return renderEdges(theme, left, [['quiet', `${foundText(state, data)} `]], width);
}

function groupHead(state: State, data: Data, theme: Theme, width: number): string {
  const { file } = state.list.group!;
  const rows = data.rows(state);
  const known = data.groups.groups(file);
  if (known === null) return renderEdges(theme, [['quiet', '  looking for the group …']], [], width);
  const scores = Array.from({ length: rows.length }, (_, index) => {
    const place = rows.at(index)!;
    return place.file.score(place.record);
  });
  const texts = groupSummary(scores, known.usual);
  const text = texts.find((one) => piecesWidth([['plain', one]]) + 2 <= width) ?? lastItem(texts);
  return renderEdges(
    theme,
    [
      ['plain', '  '],
      ['heading', text],
    ],
    [],
    width,
  );
}
