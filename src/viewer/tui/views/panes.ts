import { truncate } from '../../../core/text/fit.ts';
import { plural } from '../../../core/text/numbers.ts';
import { wrappedLines } from '../../../core/text/wrap.ts';
import { renderEdges, renderPieces } from '../../present/line.ts';
import { placeColumns, renderTableHead, renderTableRow } from '../../present/page-table.ts';
import { dimmed, styled, type Theme } from '../../present/theme.ts';
import type { Layout } from '../../present/transcript/layout.ts';
import { renderTranscript } from '../../present/transcript/render.ts';
import { rowsOfPage } from '../rows/page.ts';
import type { Region } from '../screen/screen.ts';
import { pageInSight } from '../state/panes.ts';
import { editorView } from './editor.ts';
import { helpView } from './help.ts';
import { keyMenuView } from './key-menu.ts';
import { listView } from './list.ts';
import type { PaneView, Scene } from './scene.ts';
import { transcriptView } from './transcript.ts';

const dividerView: PaneView = ({ theme }, _width, height) =>
  Array.from({ length: height }, () => styled(theme, 'quiet', '│'));

/** Everything below the first line and above the foot. */
export function bodyPanes(scene: Scene): Region[] {
  const { state, data } = scene;
  const { tooSmall, bodyHeight: height } = data.geometry(state);
  if (tooSmall) return [];
  const menu = state.help === null ? keyMenuView(scene, state.columns, height) : [];
  const rect = { x: 0, y: height + 1 - menu.length, width: state.columns, height: menu.length };
  return [...longPanes(scene, menu.length), ...(menu.length > 0 ? [{ id: 'menu', rect, lines: () => menu }] : [])];
}

/** @param covered last rows of the body that something else covers */
function longPanes(scene: Scene, covered: number): Region[] {
  const { state, data } = scene;
  const { bodyHeight: height, listWidth, transcriptWidth, detailsWidth } = data.geometry(state);
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
  if (state.help !== null) return [pane('help', helpView, 0, state.columns)];
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

/** The sign for further columns. */
const MORE = 2;

export const pageView: PaneView = ({ state, data, theme }, width, height) => {
  const shown = pageInSight(state);
  const page = data.page(state);
  if (shown === null || page === null) return [];
  const { row: here, column: cursor } = shown;
  const lines = [renderEdges(theme, [['heading', ` ${page.title}`]], [['quiet', `${page.note} `]], width)];
  for (const text of page.head ?? []) lines.push(styled(theme, 'quiet', truncate(` ${text}`, width)));
  for (const pieces of page.drawing?.lines(here) ?? [])
    lines.push(renderPieces(theme, [['plain', ' '], ...pieces], width));
  const placed = placeColumns(page.columns, cursor, width - MORE);
  lines.push(renderTableHead(page.columns, placed, { cursor, sort: page.sort, theme, width }));
  if (page.length === 0) return [...lines, styled(theme, 'quiet', truncate(`  ${page.empty}`, width))];
  const end = lines.length + rowsOfPage(page, height);
  for (let index = shown.top; index < page.length && lines.length < end; index++)
    lines.push(
      renderTableRow(page.row(index).cells, page.columns, placed, { isHere: index === here, cursor, theme, width }),
    );
  const cell = page.inFull === undefined ? undefined : page.row(here).cells[page.inFull];
  if (typeof cell !== 'string') return lines;
  while (lines.length < end + 1 && end + 1 < height) lines.push('');
  return [...lines, ...wrappedLines(cell.trim(), width - 2).map((text) => ` ${text}`)].slice(0, height);
};

/** The lines last drawn of a layout: keys that move within a rollout leave them as they are. */
const drawn = new WeakMap<Layout, { theme: Theme; height: number; title: string; lines: string[] }>();

/** Below a title, as much of the details as fits. */
export const detailsView: PaneView = ({ state, data, theme }, width, height) => {
  const layout = data.details(state);
  if (layout === null) return [];
  const key = data.keys.label('view.next', 'transcript');
  const title = layout.rows === 0 ? `no details here; ${key} has other views` : 'details';
  const known = drawn.get(layout);
  if (known?.theme === theme && known.height === height && known.title === title) return known.lines;
  const quiet: Theme = { ...dimmed(theme), key: theme.quiet };
  const room = Math.max(0, height - 2);
  const isCut = layout.rows > room;
  const lines = [
    renderEdges(quiet, [['quiet', `  ${title}`]], [], width),
    '',
    ...renderTranscript(layout, 0, isCut ? room - 1 : room, quiet, { turn: null }),
  ];
  if (isCut) {
    const more = `  ⋯ ${plural(layout.rows - room + 1, 'more line')}: ${key} goes to the details`;
    lines.push(styled(quiet, 'quiet', truncate(more, width)));
  }
  drawn.set(layout, { theme, height, title, lines });
  return lines;
};
