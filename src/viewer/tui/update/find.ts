import { itemAt } from '../../../core/lists/at.ts';
import { formatCount } from '../../../core/text/numbers.ts';
import { sanitiseLine } from '../../../core/text/sanitise.ts';
import type { Data } from '../rows/data.ts';
import { LANDMARKS, type Landmark } from '../rows/landmarks.ts';
import { goToTurn, showFinding, viewport } from '../rows/viewport.ts';
import type { LandmarkName } from '../state/find.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { visit } from './cursor.ts';
import { jumpTo, whereIs } from './jumps.ts';
import { type SomeHandlers, saying } from './result.ts';
import { hitFound } from './search.ts';

export const findHandlers = {
  landmark: (state, { landmark, by }, data) => {
    const { cursor } = state.list;
    if (cursor === null) return saying(state, 'no rollout is open');
    const landmarks = LANDMARKS[landmark].landmarks(data.record(cursor), state);
    const ahead = landmarksAhead(state, data, landmarks, by);
    const wanted = Math.abs(by);
    if (ahead.length >= wanted) return showLandmark(state, data, landmark, itemAt(ahead, wanted - 1));
    const direction = by < 0 ? -1 : 1;
    const job = { kind: 'landmark', landmark, from: cursor, by: direction * (wanted - ahead.length) } as const;
    return { state, effects: [{ type: 'find', job }] };
  },

  'find-progress': (state, { progress }) => ({ ...state, find: progress }),

  found: (before, { job, place, nth }, data) => {
    const state = { ...before, find: null };
    if (job.kind === 'hit') return hitFound(state, data, job, place);
    if (job.kind === 'id') {
      if (place === null) return saying(state, `no uid or request_id starts with ${sanitiseLine(job.id)}`, 'error');
      return goTo(state, data, place, null);
    }
    const { word } = LANDMARKS[job.landmark];
    if (place === null) return saying(state, job.by > 0 ? `no more ${word}s` : `no ${word} before this one`);
    const moved = goTo(state, data, place, null);
    if (!samePlace(moved.list.cursor, place)) return moved;
    const landmarks = LANDMARKS[job.landmark].landmarks(data.record(place), moved);
    const landmark = job.by > 0 ? landmarks[nth - 1] : landmarks[landmarks.length - nth];
    return showLandmark(moved, data, job.landmark, landmark ?? { turn: null, says: '' });
  },

  'find-id': (state, { id }) => ({
    state,
    effects: [{ type: 'find', job: { kind: 'id', id, from: state.list.cursor } }],
  }),

  go: (state, { place, turn }, data) => goTo(state, data, place, turn),

  jump: (state, { by }, data) => {
    const here = whereIs(state);
    if (here === null) return saying(state, 'no rollout is open');
    const { files } = data.dump;
    const found = jumpTo(
      state.jumps,
      here,
      by,
      ({ place: { file, record } }) => files.includes(file) && record < file.count,
    );
    if (found === null) return saying(state, by < 0 ? 'no older place' : 'no newer place');
    const { jumps, to } = found;
    const moved = visit(state, data, to.place);
    return { ...moved, jumps, transcript: { ...moved.transcript, turn: to.turn, top: to.top } };
  },
} satisfies SomeHandlers;

/** Landmarks after or before the cursor's turn, the nearest first. In a rollout that was just opened, all are ahead. */
function landmarksAhead(state: State, data: Data, landmarks: readonly Landmark[], by: number): Landmark[] {
  const isByTurn = state.display.view === 'chat' || state.display.view === 'raw';
  const moved = isByTurn ? state.transcript.turn : null;
  if (by > 0) return landmarks.filter(({ turn }) => turn !== null && turn > (moved ?? -1));
  const here = moved ?? (isByTurn ? viewport(state, data)?.turn : null) ?? 0;
  return landmarks.filter(({ turn }) => turn !== null && turn < here).reverse();
}

/** Shows a landmark of the open record, in a view that shows turns. */
function showLandmark(before: State, data: Data, name: LandmarkName, landmark: Landmark): State {
  const kind = LANDMARKS[name];
  const landmarks = kind.landmarks(data.record(before.list.cursor!), before);
  const at = landmarks.findIndex(({ turn }) => turn === landmark.turn);
  const number = at < 0 ? '' : landmarkNumber(landmarks, at);
  const says = landmark.says === '' ? '' : `: ${sanitiseLine(landmark.says)}`;
  const shown = atTurn(before, data, landmark.turn);
  const isFinding = name === 'error' || name === 'warning';
  return saying(isFinding ? showFinding(shown, data, name) : shown, `${kind.word}${number}${says}`);
}

/** ` 3/7` of all in the rollout, ` 3–4/7` if a turn holds several; '' for a single one. */
function landmarkNumber(landmarks: readonly Landmark[], at: number): string {
  const count = (some: readonly Landmark[]): number => some.reduce((sum, { many = 1 }) => sum + many, 0);
  const [before, own, all] = [count(landmarks.slice(0, at)), itemAt(landmarks, at).many ?? 1, count(landmarks)];
  const last = own === 1 ? '' : `–${formatCount(before + own)}`;
  return all < 2 ? '' : ` ${formatCount(before + 1)}${last}/${formatCount(all)}`;
}

/** With the cursor on a turn of the chat; null: at the default position. */
export function atTurn(before: State, data: Data, turn: number | null): State {
  const isByTurn = before.display.view === 'chat' || before.display.view === 'raw';
  const state: State = isByTurn ? before : { ...before, display: { ...before.display, view: 'chat', left: 0 } };
  const shown: State = data.geometry(state).transcriptWidth > 0 ? state : { ...state, focus: 'transcript' };
  if (turn === null) return { ...shown, transcript: { ...shown.transcript, turn: null, top: null } };
  const view = viewport(shown, data);
  return view === null ? shown : goToTurn(shown, view, turn);
}

/** To a record, which the filtered list may not contain. */
function goTo(state: State, data: Data, place: State['list']['cursor'], turn: number | null): State {
  if (place === null) return saying(state, 'it is gone from disk', 'error');
  const isListed = data.rows(state).indexOf(place) >= 0;
  const visited = visit(state, data, place);
  const moved = turn === null ? visited : atTurn(visited, data, turn);
  return isListed || state.list.choice.filter === null ? moved : saying(moved, 'the filter leaves it out of the list');
}
