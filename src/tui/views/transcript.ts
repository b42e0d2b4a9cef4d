import { basename } from 'node:path';
import type { Place } from '../../dump/dump.ts';
import { groupText } from '../../present/group-text.ts';
import { renderRecordHead } from '../../present/record-head.ts';
import { renderTranscript } from '../../present/transcript/render.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import { viewport } from '../scroll.ts';
import type { World } from '../world.ts';
import type { View } from './view.ts';

function groupOf(world: World, { file, record }: Place): string {
  const members = world.groups.groups(file)?.membersOf(record) ?? [];
  if (members.length < 2) return '';
  return groupText(
    members.map((member) => file.score(member)),
    members.indexOf(record) + 1,
  );
}

export const transcriptView: View = ({ state, world, theme }, width) => {
  const { cursor } = state.list;
  const view = viewport(state, world);
  if (cursor === null || view === null) return [];
  const { file, record } = cursor;
  const head = {
    locator: sanitiseLine(`${basename(file.path)}:${file.index.line(record)}`),
    sample: record + 1,
    samples: file.count,
    score: file.score(record),
    group: groupOf(world, cursor),
  };
  return [
    renderRecordHead(head, theme, width),
    '',
    ...renderTranscript(view.layout, view.top, view.height, theme, { turn: view.turn }),
  ];
};
