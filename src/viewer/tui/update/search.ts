import type { Hit } from '../../../analysis/text-search.ts';
import type { Place } from '../../../core/dump/dump.ts';
import { itemAt } from '../../../core/lists/at.ts';
import type { Data } from '../rows/data.ts';
import { NO_HIT, scanOf, searchAt, searchPosition, standing, standsHere } from '../rows/search.ts';
import { type Viewport, viewport } from '../rows/viewport.ts';
import type { HitJob } from '../state/find.ts';
import type { State } from '../state/state.ts';
import { putCursor } from './cursor.ts';
import { key, type Result, type SomeHandlers, saying } from './result.ts';

/** Opens the folds that hide a hit, and scrolls to it. */
function showHit(state: State, data: Data, hit: Hit, at: number): State {
  let next: State = { ...state, search: state.search === null ? null : searchAt(state, state.search.value, at) };
  let view = viewport(next, data);
  const anchor = { block: hit.block, offset: hit.start };
  for (let depth = 0; view !== null && depth < 100 && view.layout.exactRow(anchor) === null; depth++) {
    const closed = view.layout.folds.find(
      ({ id, closed }) => closed && (`${hit.block}.`.startsWith(`${id}.`) || id === `${hit.block}.clip`),
    );
    if (closed === undefined) break;
    const folds = new Map(next.transcript.folds).set(closed.id, false);
    const top = view.layout.anchor(view.top);
    next = { ...next, transcript: { ...next.transcript, top, folds } };
    view = viewport(next, data);
  }
  if (view === null) return next;
  const row = view.layout.row(anchor);
  const turn = view.layout.turnAt(row);
  const inSight = row >= view.top && row < view.top + view.height;
  const top = inSight ? view.top : Math.max(0, row - Math.floor(view.height / 3));
  return { ...next, focus: 'transcript', transcript: { ...next.transcript, top: view.layout.anchor(top), turn } };
}

/** The first hit at or below the top of the screen, -1 if absent. */
const firstFrom = (hits: readonly Hit[], view: Viewport): number =>
  hits.findIndex((hit) => view.layout.row({ block: hit.block, offset: hit.start }) >= view.top);

const STILL_SEARCHING = 'still searching in this sample';

/** Searches the open sample; without a hit, the screen does not move. */
export const startSearch = (state: State, value: string, data: Data): State =>
  seek({ ...state, search: searchAt(state, value, -1) }, data);

/** To the first hit in a turn of the open sample, or after it. */
export function searchFrom(state: State, value: string, turn: number, data: Data): State {
  const { cursor } = state.list;
  const started: State = { ...state, search: searchAt(state, value, -1) };
  const hits = cursor === null ? [] : (scanOf(started, data, cursor, value)?.hits ?? []);
  const layout = viewport(started, data)?.layout;
  if (layout === undefined) return started;
  const turnOf = ({ block, start }: Hit): number => layout.turnAt(layout.row({ block, offset: start })) ?? -1;
  const at = hits.findIndex((hit) => turnOf(hit) >= turn);
  return at < 0 ? started : showHit(started, data, itemAt(hits, at), at);
}

/** To the first hit at or below the top of the screen; wraps to the top only once the search is complete. */
function seek(state: State, data: Data): State {
  const { cursor } = state.list;
  const view = viewport(state, data);
  if (state.search === null || cursor === null || view === null) return state;
  const scan = scanOf(state, data, cursor, state.search.value);
  if (scan === null || scan.hits.length === 0) return state;
  const at = firstFrom(scan.hits, view);
  if (at < 0 && !scan.isDone) return state;
  return showHit(state, data, itemAt(scan.hits, Math.max(0, at)), Math.max(0, at));
}

/** Goes to the sample that was found. A long one is opened before it is searched; its hit is shown once it is found. */
export function hitFound(state: State, data: Data, { value, by }: HitJob, place: Place | null): Result {
  if (state.search?.value !== value) return state;
  if (place === null) return saying(state, by > 0 ? 'no more below' : 'no more above');
  const index = data.rows(state).indexOf(place);
  if (index < 0) return saying(state, 'the list has changed; that sample is no longer in it');
  const moved = putCursor(state, data, index);
  const hits = scanOf(moved, data, place, value)?.hits ?? [];
  if (hits.length === 0) return { ...moved, search: searchAt(moved, value, -1) };
  const at = by > 0 ? 0 : hits.length - 1;
  return showHit(moved, data, itemAt(hits, at), at);
}

/** Nothing in the open sample: n does not start over here. */
const notHere = (state: State, value: string, data: Data): State =>
  saying(
    { ...state, search: searchAt(state, value, -1, 1) },
    `not in this sample, ${key(state, data, 'search.next')} looks in the next ones`,
  );

export const searchHandlers = {
  search: (state, { value }, data) => {
    if (value === '') return { ...state, search: null };
    const next = state.search?.value === value ? state : startSearch(state, value, data);
    return searchPosition(next, data) === NO_HIT ? notHere(next, value, data) : next;
  },

  'search-next': (state, { by }, data) => searchNext(state, by, data),

  'search-found': (state, _action, data) => {
    const { search } = state;
    const { cursor } = state.list;
    // Only where it was started: a user who moves to another sample meanwhile is not moved there.
    if (search === null || cursor === null || !standsHere(state) || search.edge !== null) return state;
    // A key for the next hit is still to be answered.
    if (search.at >= 0)
      return state.message?.text === STILL_SEARCHING ? searchNext({ ...state, message: null }, 1, data) : state;
    const next = seek(state, data);
    // The message about waiting is outdated.
    if (next !== state) return { ...next, message: null };
    const scan = scanOf(state, data, cursor, search.value);
    if (state.prompt !== null || scan?.isDone !== true || scan.hits.length > 0) return state;
    return notHere(state, search.value, data);
  },

  /** Searches for the tool of the cursor's turn. */
  'search-word': (state, { by }, data) => {
    const view = viewport(state, data);
    const rollout = state.list.cursor === null ? null : data.record(state.list.cursor).rollout;
    const turn = view?.turn == null ? undefined : rollout?.turns[view.turn];
    const asking = rollout?.turns.flatMap((other) => other.toolCalls).find((call) => call.resultTurn === turn?.index);
    const word = turn?.toolCalls.find((call) => call.name !== null)?.name ?? asking?.name ?? null;
    if (word === null) return saying(state, 'no tool in this turn');
    const value = `\\V${word}`;
    if (state.search?.value !== value) return startSearch(state, value, data);
    return searchNext(state, by, data);
  },
} satisfies SomeHandlers;

function searchNext(state: State, by: number, data: Data): Result {
  const { search } = state;
  const { cursor } = state.list;
  const view = viewport(state, data);
  if (search === null || cursor === null || view === null)
    return saying(state, `no search yet; ${key(state, data, 'search')} starts one`);
  const direction = by > 0 ? 1 : -1;
  const scan = scanOf(state, data, cursor, search.value);
  const hits = scan?.hits ?? [];
  const { at: stands, edge } = standing(state);
  const at = stands >= hits.length ? -1 : stands;
  const first = hits.length > 0 && edge === null ? Math.max(0, firstFrom(hits, view)) : hits.length;
  const wanted = at < 0 ? first : at + by;
  if (wanted >= 0 && wanted < hits.length) return showHit(state, data, itemAt(hits, wanted), wanted);
  if (scan?.isDone === false && direction > 0) return saying(state, STILL_SEARCHING);
  if (edge === direction) {
    const job: HitJob = { kind: 'hit', value: search.value, from: cursor, by: direction };
    return { state, effects: [{ type: 'find', job }] };
  }
  const where =
    direction > 0
      ? `${key(state, data, 'search.next')} again for the next sample`
      : `${key(state, data, 'search.previous')} again for the sample before`;
  return saying({ ...state, search: searchAt(state, search.value, at, direction) }, `no more here, ${where}`);
}
