import type { Data } from '../rows/data.ts';
import { listWindow } from '../rows/list-window.ts';
import { scrollTo, viewport } from '../rows/viewport.ts';
import type { MouseEvent } from '../screen/mouse.ts';
import type { State } from '../state/state.ts';
import { moveCursor, putCursor } from './cursor.ts';
import { toggleFold } from './fold.ts';
import type { Result } from './result.ts';

/** The wheel scrolls the pane under it; a click goes to a row, a turn or a pane, and opens or closes a fold. */
export function mouse(state: State, event: MouseEvent, data: Data): Result {
  const { listWidth, transcriptWidth, bodyHeight } = data.geometry(state);
  const row = event.y - 1;
  const isAsked = state.replay.question !== null || state.list.menu !== null || state.editor !== null;
  if (isAsked || row < 0 || row >= bodyHeight) return state;
  if (event.x < listWidth) return inList(state, event, row, data);
  const end = transcriptWidth + (listWidth === 0 ? 0 : listWidth + 1);
  return transcriptWidth > 0 && event.x < end ? inTranscript(state, event, row, data) : state;
}

function inList(state: State, { kind, by }: MouseEvent, row: number, data: Data): Result {
  if (kind === 'wheel') return moveCursor(state, data, by, 'clamp');
  const focused: State = { ...state, focus: 'list' };
  const { bodyHeight, listHeight } = data.geometry(state);
  // The titles and the current filter are above the rows.
  const titles = bodyHeight - listHeight;
  const index = listWindow(state, data).top + row - titles;
  return row < titles || index >= data.rows(state).length ? focused : putCursor(focused, data, index);
}

function inTranscript(state: State, { kind, by }: MouseEvent, row: number, data: Data): Result {
  const view = viewport(state, data);
  if (view === null) return state;
  if (kind === 'wheel') return scrollTo(state, view, view.top + by);
  const focused: State = { ...state, focus: 'transcript' };
  // The record's head and a blank line are above the text.
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
