import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewport } from '../../../src/viewer/tui/rows/viewport.ts';
import type { State } from '../../../src/viewer/tui/state/state.ts';
import { smallRun } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
beforeAll(async () => {
  screen = await TestScreen.open(smallRun(1, 2), 100, 30);
  screen.do({ type: 'open' });
});
afterAll(() => screen.close());

const ids = ['t0', 't1', 't2', 't2.0', 't2.1', 't2.1.clip', 't3', 't4', 'ground-truth.clip'];
const drawnFolds = fc.array(fc.tuple(fc.constantFrom(...ids), fc.boolean())).map((entries) => new Map(entries));

/** Folds as the key leaves them, without anything remembered: all that is closed is opened, until nothing is. */
function foldedPlainly(state: State): ReadonlyMap<string, boolean> {
  const { rollout } = screen.data.record(state.list.cursor!);
  const before = state.transcript.folds;
  if (rollout!.turns.every(({ index }) => before.get(`t${index}`) === true)) return new Map();
  let folds = new Map(before);
  for (let depth = 0; depth < 3; depth++) {
    const at: State = { ...state, transcript: { ...state.transcript, folds } };
    const closed = viewport(at, screen.data)!.layout.folds.filter((fold) => fold.closed);
    if (closed.length === 0) break;
    folds = new Map(folds);
    for (const { id } of closed) {
      if (folds.get(id) === true) folds.delete(id);
      else folds.set(id, false);
    }
  }
  const isSame = folds.size === before.size && [...folds].every(([id, isClosed]) => before.get(id) === isClosed);
  return isSame ? new Map(rollout!.turns.map(({ index }) => [`t${index}`, true])) : folds;
}

test('opening all folds again and again is what it would be if nothing were remembered', () => {
  fc.assert(
    fc.property(drawnFolds, fc.integer({ min: 1, max: 6 }), (folds, times) => {
      const { state } = screen;
      screen.state = { ...state, transcript: { ...state.transcript, folds } };
      for (let i = 0; i < times; i++) {
        const expected = foldedPlainly(screen.state);
        const before = screen.state;
        const once = screen.do({ type: 'fold-all' }).state.transcript.folds;
        expect(new Map(once)).toEqual(expected);
        // Tried again with the same state, as after a load.
        screen.state = before;
        expect(new Map(screen.do({ type: 'fold-all' }).state.transcript.folds)).toEqual(expected);
      }
      screen.state = state;
    }),
    { numRuns: 60 },
  );
});
