import type { Folds } from '../../present/transcript/blocks.ts';
import type { Fold } from '../../present/transcript/layout.ts';
import type { Data } from '../rows/data.ts';
import { type Viewport, viewport } from '../rows/viewport.ts';
import type { State } from '../state/state.ts';
import { type Result, type SomeHandlers, saying } from './result.ts';

/** The state with these folds; the top row stays the same. */
function withFolds(state: State, view: Viewport, folds: Folds): State {
  return { ...state, transcript: { top: view.layout.anchor(view.top), turn: view.turn, folds } };
}

/** Opens parts: drops a reader's choice to close one, otherwise overrides the default. */
function opening(folds: Folds, parts: readonly Fold[]): Folds {
  const next = new Map(folds);
  for (const { id } of parts) {
    if (next.get(id) === true) next.delete(id);
    else next.set(id, false);
  }
  return next;
}

const known = new WeakMap<readonly Fold[], { folds: Folds; count: number; opened: Folds | null }>();

/** Everything open that a layout shows closed; null if nothing is. The same one if an action is tried again: comparing very many takes a while. */
function allOpened(folds: Folds, parts: readonly Fold[]): Folds | null {
  const before = known.get(parts);
  // A layout that grows knows more parts.
  if (before?.folds === folds && before.count === parts.length) return before.opened;
  const closed = parts.filter((fold) => fold.closed);
  const opened = closed.length === 0 ? null : opening(folds, closed);
  known.set(parts, { folds, count: parts.length, opened });
  return opened;
}

/** Opens or closes one part; the top row stays the same. */
export function toggleFold(state: State, id: string, closed: boolean): State {
  const folds = new Map(state.transcript.folds);
  if (folds.get(id) === closed) folds.delete(id);
  else folds.set(id, !closed);
  return { ...state, transcript: { ...state.transcript, folds } };
}

const ofTurn = (id: string, turn: number): boolean => id === `t${turn}` || id.startsWith(`t${turn}.`);

export const foldHandlers = {
  /** Opens the turn's folded parts; if they are open, restores them; if there is nothing to open, folds the turn to a line. */
  fold: (state, _action, data) => {
    const view = viewport(state, data);
    if (view === null || view.turn === null) return saying(state, 'nothing to fold here');
    const { turn } = view;
    const { folds } = state.transcript;
    const closed = view.layout.folds.filter((fold) => fold.turn === turn && fold.closed);
    if (closed.length > 0) return withFolds(state, view, opening(folds, closed));
    const json = state.display.view === 'json' ? view.layout.at(view.layout.rowOfTurn(turn)).block.id : null;
    const mine = (id: string): boolean => (json === null ? ofTurn(id, turn) : id === json || id === `${json}.clip`);
    const others = new Map([...folds].filter(([id]) => !mine(id)));
    if (others.size < folds.size) return withFolds(state, view, others);
    if (state.display.view === 'json') {
      const { id, fold } = view.layout.at(view.layout.rowOfTurn(turn)).block;
      return fold === undefined
        ? saying(state, 'nothing to fold here')
        : withFolds(state, view, new Map(folds).set(id, true));
    }
    if (state.display.view !== 'chat') return saying(state, 'nothing to fold in this view');
    return withFolds(state, view, new Map(folds).set(`t${turn}`, true));
  },

  'fold-all': (state, _action, data) => foldAll(state, data),
} satisfies SomeHandlers;

/** Cycles: default → all open → one line per turn → default. */
function foldAll(state: State, data: Data): Result {
  const view = viewport(state, data);
  const record = state.list.cursor === null ? null : data.record(state.list.cursor);
  const turns = record?.rollout?.turns ?? [];
  if (view === null || turns.length === 0) return saying(state, 'nothing to fold here');
  const { folds } = state.transcript;
  if (folds.size >= turns.length && turns.every((turn) => folds.get(`t${turn.index}`) === true))
    return withFolds(state, view, new Map());
  let next = state;
  // The parts of a folded turn are known only once it is open.
  for (let depth = 0; depth < 3; depth++) {
    const layout = viewport(next, data)?.layout;
    const opened = layout === undefined ? null : allOpened(next.transcript.folds, layout.folds);
    if (opened === null) break;
    next = withFolds(next, view, opened);
    // In a long rollout not all parts are known, and each attempt would take a while.
    if (layout?.isWhole === false) break;
  }
  if (next !== state) return next;
  if (state.display.view !== 'chat') return withFolds(state, view, new Map());
  return withFolds(state, view, new Map(turns.map((turn) => [`t${turn.index}`, true])));
}
