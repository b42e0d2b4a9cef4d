import { dimmed, styled } from '../../present/theme.ts';
import type { Region } from '../screen/screen.ts';
import { pageInSight } from '../state/panes.ts';
import { detailsView } from './details.ts';
import { editorView } from './editor.ts';
import { keyMenuView } from './key-menu.ts';
import { listView } from './list.ts';
import { pageView } from './page.ts';
import type { PaneView, Scene } from './scene.ts';
import { transcriptView } from './transcript.ts';

const dividerView: PaneView = ({ theme }, _width, height) =>
  Array.from({ length: height }, () => styled(theme, 'quiet', '│'));

/** The long panes, below the first line. */
export function bodyPanes(scene: Scene): Region[] {
  const { state, data } = scene;
  const { tooSmall, bodyHeight: height, listWidth, transcriptWidth, detailsWidth } = data.geometry(state);
  const covered = keyMenuView(scene, state.columns, height)?.height ?? 0;
  const pane = (id: string, view: PaneView, x: number, width: number, y = 1): Region => {
    const full = height + 1 - y;
    const rect = { x, y, width, height: Math.max(0, full - covered) };
    return { id, rect, lines: () => view(scene, width, full).slice(0, rect.height) };
  };
  const both = listWidth > 0 && transcriptWidth > 0;
  /** With two panes side by side, the one without focus is faint. */
  const beside = (view: PaneView, focus: 'list' | 'transcript'): PaneView =>
    both && state.focus !== focus ? (own, ...size) => view({ ...own, theme: dimmed(own.theme) }, ...size) : view;
  const textAt = both ? listWidth + 1 : 0;
  const detailsAt = textAt + transcriptWidth + 2;
  if (tooSmall || state.help !== null) return [];
  // The editor's title is above its text.
  if (state.editor !== null) return [pane('editor', editorView, 0, state.columns, 2)];
  if (pageInSight(state) !== null) return [pane('page', pageView, 0, state.columns)];
  return [
    ...(listWidth > 0 ? [pane('list', beside(listView, 'list'), 0, listWidth)] : []),
    ...(both ? [pane('divider', dividerView, listWidth, 1)] : []),
    ...(transcriptWidth > 0 ? [pane('transcript', beside(transcriptView, 'transcript'), textAt, transcriptWidth)] : []),
    ...(detailsWidth > 0
      ? [pane('details divider', dividerView, detailsAt - 1, 1), pane('details', detailsView, detailsAt, detailsWidth)]
      : []),
  ];
}
