import type { DumpFile } from '../../dump/dump-file.ts';
import { fitColumns, type ListRow, renderListHeader, renderListRow } from '../../present/list.ts';
import { styled } from '../../present/theme.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { listWindow } from '../list-window.ts';
import type { View } from './view.ts';

function listRow(file: DumpFile, record: number): ListRow {
  const facts = file.facts(record);
  return {
    stream: sanitiseLine(file.stream),
    step: file.stepOf(record),
    stem: sanitiseLine(file.stem),
    sample: record + 1,
    score: file.score(record),
    turns: facts?.turns,
    calls: facts?.toolCalls,
    bytes: file.index.length(record),
    findings: facts?.findings,
    arriving: file.isArriving(),
  };
}

export const listView: View = ({ state, world, theme }, width, height) => {
  const columns = fitColumns(world.listColumns(), width);
  const rows = world.rows(state);
  const { top, here } = listWindow(state, world);
  const lines = [renderListHeader(columns, theme)];
  for (let index = top; index < rows.length && lines.length < height; index++) {
    const { file, record } = rows.at(index)!;
    const marks = { here: index === here, focused: state.focus === 'list' };
    lines.push(renderListRow(listRow(file, record), columns, theme, marks));
  }
  if (rows.length === 0)
    lines.push(styled(theme, 'quiet', world.dump.progress().phase === 'index' ? '  reading …' : '  no rollouts'));
  return lines;
};
