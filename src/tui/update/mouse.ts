import type { World } from '../rows/data.ts';
import { listWindow } from '../rows/list-window.ts';
import { scrollTo, viewport } from '../rows/viewport.ts';
import type { MouseEvent } from '../screen/mouse.ts';
import type { State } from '../state/state.ts';
import { moveCursor, putCursor } from './cursor.ts';
import { toggleFold } from './fold.ts';
import type { Result } from './result.ts';

/** The wheel scrolls the pane below it; a click goes to a row, a turn, a pane, and opens or closes a fold. */
export function mouse(state: State, event: MouseEvent, world: World): Result {
  const { listWidth, transcriptWidth, bodyHeight } = world.geometry(state);
  const row = event.y - 1;
  const isAsked = state.replay.question !== null || state.list.menu !== null || state.editor !== null;
  if (isAsked || row < 0 || row >= bodyHeight) return state;
  if (event.x < listWidth) return inList(state, event, row, world);
  return event.x > listWidth - 1 && transcriptWidth > 0 ? inTranscript(state, event, row, world) : state;
}

function inList(state: State, { kind, by }: MouseEvent, row: number, world: World): Result {
  if (kind === 'wheel') return moveCursor(state, world, by, 'clamp');
  const focused: State = { ...state, focus: 'list' };
  const { bodyHeight, listHeight } = world.geometry(state);
  // Above the rows stand the titles, and what the list is filtered by.
  const titles = bodyHeight - listHeight;
  const index = listWindow(state, world).top + row - titles;
  return row < titles || index >= world.rows(state).length ? focused : putCursor(focused, world, index);
}

function inTranscript(state: State, { kind, by }: MouseEvent, row: number, world: World): Result {
  const view = viewport(state, world);
  if (view === null) return state;
  if (kind === 'wheel') return scrollTo(state, view, view.top + by);
  const focused: State = { ...state, focus: 'transcript' };
  // Above the text stand the record's head and a blank.
  const at = view.top + row - 2;
  if (row < 2 || at >= view.layout.rows) return focused;
  const turn = view.layout.turnAt(at);
  const top = view.layout.anchor(view.top);
  const here: State = { ...focused, transcript: { ...state.transcript, top, turn: turn ?? view.turn } };
  const { block, clipped } = view.layout.at(at);
  const fold = clipped > 0 ? `${block.id}.clip` : block.id;
  const closed = view.layout.folds.find(({ id }) => id === fold)?.closed;
  return closed === undefined ? here : toggleFold(here, fold, closed);
}
