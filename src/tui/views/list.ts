import type { DumpFile } from '../../dump/dump-file.ts';
import { COLUMNS, type Column, fitColumns, type ListRow, renderListHeader, renderListRow } from '../../present/list.ts';
import { styled } from '../../present/theme.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { listWindow } from '../list-window.ts';
import type { Scene, View } from './view.ts';

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
  };
}

/** The stream is worth a column only where there are several. */
function columnsFor({ world }: Scene, width: number): Column[] {
  const { files } = world.dump;
  const several = files.some((file) => file.stream !== files[0]!.stream);
  return fitColumns(several ? COLUMNS : COLUMNS.filter((column) => column.key !== 'stream'), width);
}

export const listView: View = (scene, width, height) => {
  const { state, world, theme } = scene;
  const columns = columnsFor(scene, width);
  const rows = world.rows(state);
  const { top, here } = listWindow(state, world);
  const lines = [renderListHeader(columns, theme)];
  for (let index = top; index < rows.length && lines.length < height; index++) {
    const { file, record } = rows.at(index)!;
    const marks = { here: index === here, focused: state.focus === 'list' };
    lines.push(renderListRow(listRow(file, record), columns, theme, marks));
  }
  if (rows.length === 0) lines.push(styled(theme, 'quiet', world.dump.progress().phase === 'index' ? '  reading …' : '  no rollouts'));
  return lines;
};
