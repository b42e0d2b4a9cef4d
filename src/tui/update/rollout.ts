import type { Place } from '../../dump/dump.ts';
import type { DumpFile } from '../../dump/dump-file.ts';
import type { RolloutAction } from '../actions.ts';
import type { State } from '../state.ts';
import type { World } from '../world.ts';
import { moveCursor, putCursor } from './cursor.ts';
import { foldHandlers } from './fold.ts';
import { type Handlers, key, type Result, say } from './result.ts';

export const rolloutHandlers: Handlers<RolloutAction> = {
  sample: (state, { by }, world) => moveCursor(state, world, by, 'tell'),
  step: (state, { by }, world) => moveStep(state, world, by),
  open: (state, _action, world) =>
    state.focus === 'list' ? { ...state, focus: 'transcript' } : foldHandlers.fold(state, { type: 'fold' }, world),
  back: (state) =>
    state.focus === 'transcript'
      ? { ...state, focus: 'list' }
      : say(state, `${key(state, 'quit')} quits; ${key(state, 'open')} opens the rollout`),
  'focus-next': (state) => ({ ...state, focus: state.focus === 'list' ? 'transcript' : 'list' }),
  zoom: (state) => ({ ...state, zoom: !state.zoom }),
};

/** How a step is called: its number, or the name of a file that has none. */
const nameOf = (file: DumpFile): string => (file.step === null ? file.stem : `step ${file.step}`);

/** To the same sample of a step before or after, within the stream. */
function moveStep(state: State, world: World, by: number): Result {
  const { cursor } = state.list;
  if (cursor === null) return state;
  const steps = world.dump.files.filter((file) => file.stream === cursor.file.stream && file.count > 0);
  const at = steps.indexOf(cursor.file) + by;
  const file = steps[Math.max(0, Math.min(steps.length - 1, at))];
  if (file === undefined || file === cursor.file) {
    return say(state, by > 0 ? `${nameOf(cursor.file)} is the last` : `${nameOf(cursor.file)} is the first`);
  }
  const { record, note } = sameRollout(world, cursor, file);
  const index = world.rows(state).indexOf({ file, record });
  if (index < 0) return say(state, `${nameOf(file)}: not in the list as it is filtered`);
  return say(putCursor(state, world, index), `${nameOf(file)}, ${note}`);
}

/** The rollout of another step that answers the same prompt, else the one at the same place in the order. */
function sameRollout(world: World, from: Place, file: DumpFile): { record: number; note: string } {
  const prompt = world.groups.promptOf(from.file, from.record);
  const found = prompt === null ? undefined : world.groups.recordOf(file, prompt);
  if (found !== null && found !== undefined) return { record: found, note: 'the same prompt' };
  const record = Math.min(from.record, file.count - 1);
  const place = record === from.record ? 'the same place in the order' : `its last sample, it has ${file.count}`;
  return { record, note: found === undefined ? place : `${place}: this prompt is not there` };
}
