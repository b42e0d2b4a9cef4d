import { basename } from 'node:path';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import { shownPath } from '../../../core/text/shown-path.ts';
import { labelWords } from '../../present/label-text.ts';
import { renderHeadFindings, renderRecordHead } from '../../present/record-head.ts';
import { renderTranscript } from '../../present/transcript/render.ts';
import { groupOf } from '../rows/group-of.ts';
import { highlights } from '../rows/search.ts';
import { viewport } from '../rows/viewport.ts';
import type { PaneView } from './scene.ts';

export const transcriptView: PaneView = ({ state, data, theme }, width) => {
  const { cursor } = state.list;
  const view = viewport(state, data);
  if (cursor === null || view === null) return [];
  const { file, record } = cursor;
  const hits = highlights(state, data);
  const said = labelWords(state.labels.rollouts.get(file.locator(record)) ?? []);
  const head = {
    // With the folders that distinguish it from others of its name, as it can be typed after `:`.
    locator: sanitiseLine(file.folders + basename(file.path) + file.locator(record).slice(shownPath(file.path).length)),
    sample: record + 1,
    samples: file.count,
    score: file.score(record),
    group: [...(said === '' ? [] : [`label ${said}`]), ...groupOf(data.groups, cursor).parts],
    diskChange: data.diskChange(cursor),
    isFocused: state.focus === 'transcript' && data.geometry(state).listWidth > 0,
  };
  return [
    renderRecordHead(head, theme, width),
    renderHeadFindings(data.record(cursor).rollout?.findings ?? [], theme, width),
    ...renderTranscript(view.layout, view.top, view.height, theme, {
      turn: view.turn,
      syntax: (block) => data.syntax.ranges(block),
      ...(hits === null ? {} : { hits }),
      ...(state.display.wrap ? {} : { left: state.display.left }),
    }),
  ];
};
