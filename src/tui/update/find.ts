import { formatCount } from '../../present/numbers.ts';
import { sanitiseLine } from '../../text/sanitise.ts';
import type { World } from '../rows/data.ts';
import { type Stop, type StopName, stopKind } from '../rows/landmarks.ts';
import { samePlace } from '../rows/rows.ts';
import { goToTurn, showFinding, viewport } from '../rows/viewport.ts';
import type { FindAction } from '../state/find.ts';
import type { State } from '../state/state.ts';
import { visit } from './cursor.ts';
import { jumpTo, whereIs } from './jumps.ts';
import { type Handlers, say } from './result.ts';
import { hitFound } from './search.ts';

export const findHandlers: Handlers<FindAction> = {
  stop: (state, { stop, by }, world) => {
    const { cursor } = state.list;
    if (cursor === null) return say(state, 'no rollout is open');
    const stops = stopKind(stop).stops(world.record(cursor), state);
    const ahead = stopsAhead(state, world, stops, by);
    const wanted = Math.abs(by);
    if (ahead.length >= wanted) return stopAt(state, world, stop, ahead[wanted - 1]!);
    const direction = by < 0 ? -1 : 1;
    const job = { kind: 'stop', stop, from: cursor, by: direction * (wanted - ahead.length) } as const;
    return { state, effects: [{ type: 'seek', job }] };
  },

  seeking: (state, { progress }) => ({ ...state, seek: progress }),

  sought: (before, { job, place, nth }, world) => {
    const state = { ...before, seek: null };
    if (job.kind === 'hit') return hitFound(state, world, job, place);
    if (job.kind === 'id') {
      if (place === null) return say(state, `no uid or request_id begins with ${sanitiseLine(job.id)}`, 'error');
      return goTo(state, world, place, null);
    }
    const { word } = stopKind(job.stop);
    if (place === null) return say(state, job.by > 0 ? `no more ${word}s` : `no ${word} before this one`);
    const moved = goTo(state, world, place, null);
    if (!samePlace(moved.list.cursor, place)) return moved;
    const stops = stopKind(job.stop).stops(world.record(place), moved);
    const stop = job.by > 0 ? stops[nth - 1] : stops[stops.length - nth];
    return stopAt(moved, world, job.stop, stop ?? { turn: null, says: '' });
  },

  go: (state, { place, turn }, world) => goTo(state, world, place, turn),

  jump: (state, { by }, world) => {
    const here = whereIs(state);
    if (here === null) return say(state, 'no rollout is open');
    const { files } = world.dump;
    const found = jumpTo(
      state.jumps,
      here,
      by,
      ({ place: { file, record } }) => files.includes(file) && record < file.count,
    );
    if (found === null) return say(state, by < 0 ? 'no older place' : 'no newer place');
    const { jumps, to } = found;
    const moved = visit(state, world, to.place);
    return { ...moved, jumps, transcript: { ...moved.transcript, turn: to.turn, top: to.top } };
  },
};

/** Stops behind the cursor's turn, or before it, the nearest first. A rollout that was only just opened has all of them ahead. */
function stopsAhead(state: State, world: World, stops: readonly Stop[], by: number): Stop[] {
  const isByTurn = state.display.view === 'chat' || state.display.view === 'raw';
  const moved = isByTurn ? state.transcript.turn : null;
  if (by > 0) return stops.filter(({ turn }) => turn !== null && turn > (moved ?? -1));
  const here = moved ?? (isByTurn ? viewport(state, world)?.turn : null) ?? 0;
  return stops.filter(({ turn }) => turn !== null && turn < here).reverse();
}

/** Shows a stop of the record that is open, where turns are shown. */
function stopAt(before: State, world: World, name: StopName, stop: Stop): State {
  const kind = stopKind(name);
  const stops = kind.stops(world.record(before.list.cursor!), before);
  const at = stops.findIndex(({ turn }) => turn === stop.turn);
  const number = at < 0 || stops.length < 2 ? '' : ` ${formatCount(at + 1)}/${formatCount(stops.length)}`;
  const says = stop.says === '' ? '' : `: ${sanitiseLine(stop.says)}`;
  const shown = atTurn(before, world, stop.turn);
  const isFinding = name === 'error' || name === 'warning';
  return say(isFinding ? showFinding(shown, world, name) : shown, `${kind.word}${number}${says}`);
}

/** With the cursor on a turn of the chat; null: where the rollout opens. */
function atTurn(before: State, world: World, turn: number | null): State {
  const isByTurn = before.display.view === 'chat' || before.display.view === 'raw';
  const state: State = isByTurn ? before : { ...before, display: { ...before.display, view: 'chat', left: 0 } };
  const shown: State = world.geometry(state).transcriptWidth > 0 ? state : { ...state, focus: 'transcript' };
  if (turn === null) return { ...shown, transcript: { ...shown.transcript, turn: null, top: null } };
  const view = viewport(shown, world);
  return view === null ? shown : goToTurn(shown, view, turn);
}

/** To a record, which the list may not hold as it is filtered. */
export function goTo(state: State, world: World, place: State['list']['cursor'], turn: number | null): State {
  if (place === null) return say(state, 'it is gone from disk', 'error');
  const isListed = world.rows(state).indexOf(place) >= 0;
  const visited = visit(state, world, place);
  const moved = turn === null ? visited : atTurn(visited, world, turn);
  return isListed || state.list.choice.filter === null ? moved : say(moved, 'the filter leaves it out of the list');
}
