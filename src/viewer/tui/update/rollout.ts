import type { Place } from '../../../core/dump/dump.ts';
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import type { Data } from '../rows/data.ts';
import { samePlace } from '../state/rows.ts';
import type { State } from '../state/state.ts';
import { opened } from '../state/transcript.ts';
import { cancelLooking } from './cancel.ts';
import { moveCursor, putCursor } from './cursor.ts';
import { leaveGroup } from './group.ts';
import { key, type Result, type SomeHandlers, saying } from './result.ts';

export const rolloutHandlers = {
  sample: (state, { by }, data) => moveCursor(state, data, by, 'say'),
  step: (state, { by }, data) => moveStep(state, data, by),
  open: (state) => (state.focus === 'list' ? { ...state, focus: 'transcript' } : { state, next: { type: 'fold' } }),
  back: (state, _action, data) => {
    const cancelled = cancelLooking(state, data);
    if (cancelled !== null) return cancelled;
    const stop = `${key(state, data, 'cancel')} stops what runs`;
    if (state.focus === 'transcript') {
      const left: State = { ...state, focus: 'list' };
      return state.replay.isBusy ? saying(left, stop) : left;
    }
    if (state.list.group !== null) return leaveGroup(state, data);
    if (state.replay.isBusy) return saying(state, stop);
    const otherwise =
      state.list.choice.filter === null
        ? `${key(state, data, 'open')} opens the rollout`
        : `${key(state, data, 'filter')} Enter clears the filter`;
    return saying(state, `${key(state, data, 'quit')} quits; ${otherwise}`);
  },
  'focus-next': (state) => ({ ...state, focus: state.focus === 'list' ? 'transcript' : 'list' }),
  zoom: (state, _action, data) => {
    const beside: State = { ...state, zoom: false, hasDetails: true };
    if (data.geometry(state).detailsWidth > 0) return { ...state, hasDetails: false };
    if (!state.zoom) return { ...state, zoom: true };
    return data.geometry(beside).detailsWidth > 0 ? beside : { ...state, zoom: false };
  },
} satisfies SomeHandlers;

/** The name of a step: its number, or the name of a file that has none. */
const nameOf = (file: DumpFile): string => (file.step === null ? file.stem : `step ${file.step}`);

/** To the same prompt in an earlier or later step of the stream, as far as the list shows it; a group goes to that prompt's group. */
function moveStep(state: State, data: Data, by: number): Result {
  const { cursor, group } = state.list;
  if (cursor === null) return state;
  const rows = data.rows(state);
  const isListed = (file: DumpFile): boolean => (group === null ? rows.near({ file, record: 0 }) >= 0 : file.count > 0);
  const files = data.dump.files.filter((file) => file.stream === cursor.file.stream);
  const here = files.indexOf(cursor.file);
  const way = (by > 0 ? files.slice(here + 1) : files.slice(0, Math.max(0, here)).reverse()).filter(isListed);
  const file = way[Math.min(Math.abs(by), way.length) - 1];
  if (file === undefined) {
    const isFiltered = group === null && state.list.choice.filter !== null;
    const edge = by > 0 ? 'the last' : 'the first';
    return saying(state, `${nameOf(cursor.file)} is ${edge}${isFiltered ? ' that the filter leaves' : ''}`);
  }
  const { record, note } = sameRollout(data, cursor, file);
  const place = { file, record };
  if (group !== null) {
    const next = { ...state, list: { ...state.list, group: place, cursor: place }, transcript: opened };
    return saying(next, `${nameOf(file)}, ${note}`);
  }
  const index = rows.near(place);
  const isThere = samePlace(rows.at(index), place);
  return saying(
    putCursor(state, data, index),
    `${nameOf(file)}, ${isThere ? note : 'the nearest that the filter leaves'}`,
  );
}

/** The rollout of another step that answers the same prompt, else the one at the same index. */
function sameRollout(data: Data, from: Place, file: DumpFile): { record: number; note: string } {
  const prompt = data.groups.promptOf(from.file, from.record);
  const found = prompt === null ? undefined : data.groups.recordOf(file, prompt);
  if (found !== null && found !== undefined) return { record: found, note: 'the same prompt' };
  const record = Math.min(from.record, file.count - 1);
  const place = record === from.record ? 'the same place in the order' : `its last sample, it has ${file.count}`;
  return { record, note: found === undefined ? place : `${place}: this prompt is not there` };
}
