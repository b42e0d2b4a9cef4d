import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { labelWords } from '../../present/label-text.ts';
import { renderPieces } from '../../present/line.ts';
import { renderListHeader, renderListRow } from '../../present/list.ts';
import type { ListRow } from '../../present/list-columns.ts';
import { styled, type Theme } from '../../present/theme.ts';
import type { Data } from '../rows/data.ts';
import { listWindow } from '../rows/list-window.ts';
import { markSigns } from '../rows/mark-signs.ts';
import { REPLAY_KEYS } from '../rows/replay-values.ts';
import type { State } from '../state/state.ts';
import { listHead } from './list-head.ts';
import type { PaneView } from './scene.ts';

function listRow(
  file: DumpFile,
  record: number,
  { replay, labels }: State,
  data: Data,
  hasOwnColumn: ListRow['hasOwnColumn'],
): ListRow {
  const facts = file.facts(record);
  const isAgain = replay.words.size > 0 || replay.rescores.size > 0 || labels.rollouts.size > 0;
  const locator = isAgain ? file.locator(record) : '';
  const rescored = replay.rescores.get(locator);
  return {
    stream: sanitiseLine(file.stream),
    step: file.stepOf(record),
    stem: sanitiseLine(file.stem),
    sample: record + 1,
    score: file.score(record),
    bytes: file.sizeOf(record),
    facts,
    failedTool: file.failedTool(record),
    again: replay.words.get(locator) ?? '',
    hasOwnColumn,
    label: labelWords(labels.rollouts.get(locator) ?? []),
    rescored: rescored && { score: rescored.score, isDrift: rescored.status === 'drift' },
    arriving: file.isArriving(data.now),
    value: (name) => data.value({ file, record }, name),
  };
}

export const listView: PaneView = ({ state, data, theme }, width, height) => {
  const { columns, transcriptWidth } = data.geometry(state);
  const header = renderListHeader(
    columns,
    theme,
    state.list.choice.sort,
    state.focus === 'list' && transcriptWidth > 0,
  );
  if (state.list.menu?.kind === 'columns') return [header, ...columnsMenu(state, data, theme, width, height - 1)];
  const rows = data.rows(state);
  const { top, here } = listWindow(state, data);
  const signs = markSigns(state.list.choice.marks);
  const head = listHead(state, data, theme, width);
  const isShown = (wanted: string) => columns.some(({ key }) => key === wanted);
  const hasOwnColumn = { again: isShown(REPLAY_KEYS.again), rescored: isShown(REPLAY_KEYS.rescored) };
  const lines = head === null ? [header] : [head, header];
  for (let index = top; index < rows.length && lines.length < height; index++) {
    const { file, record } = rows.at(index)!;
    const marks = {
      here: index === here,
      fresh: data.fresh.has({ file, record }),
      read: file.isRead(record) === true,
      focused: state.focus === 'list',
      mark: signs.get(file)?.get(record) ?? '',
    };
    lines.push(renderListRow(listRow(file, record, state, data, hasOwnColumn), columns, theme, marks));
  }
  if (rows.length === 0) for (const text of emptyText(state, data)) lines.push(styled(theme, 'quiet', `  ${text}`));
  return lines;
};

/** Why the list is empty, and what to do. */
function emptyText(state: State, data: Data): string[] {
  if (data.dump.progress().phase === 'index') return ['reading …'];
  const filterProgress = data.filterProgress(state);
  if (filterProgress === null || filterProgress.total === 0) return ['no rollouts'];
  return filterProgress.isWhole
    ? ['nothing matches', `${data.keys.label('filter')} Enter clears the filter`]
    : ['looking …', 'Esc cancels'];
}

/** All columns, with a sign before those that are shown. */
function columnsMenu(state: State, data: Data, theme: Theme, width: number, height: number): string[] {
  const cursor = state.list.menu?.cursor ?? 0;
  const all = data.allColumns(state);
  const top = Math.max(0, Math.min(cursor - Math.floor(height / 2), all.length - height));
  return all.slice(top, top + height).map(({ title, isShown }, i) => {
    const isHere = top + i === cursor;
    return renderPieces(
      theme,
      [
        ['accent', isHere ? '› ' : '  '],
        [isShown ? 'accent' : 'quiet', isShown ? '[x] ' : '[ ] '],
        [isHere ? 'strong' : isShown ? 'plain' : 'quiet', title],
      ],
      width,
    );
  });
}
