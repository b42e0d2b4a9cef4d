import { truncate } from '../../../core/text/fit.ts';
import { plural } from '../../../core/text/numbers.ts';
import { renderEdges } from '../../present/line.ts';
import { dimmed, styled, type Theme } from '../../present/theme.ts';
import type { Layout } from '../../present/transcript/layout.ts';
import { renderTranscript } from '../../present/transcript/render.ts';
import type { PaneView } from './scene.ts';

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
