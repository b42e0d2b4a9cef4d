import { afterAll, expect, test, vi } from 'vitest';
import { LiveRun } from '../../../src/analysis/live-run.ts';
import { Dump, type Place } from '../../../src/core/dump/dump.ts';
import { Keymap } from '../../../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../../../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../../../src/viewer/tui/rows/dump-data.ts';
import { ReadAhead } from '../../../src/viewer/tui/shell/prefetch.ts';
import { initialState } from '../../../src/viewer/tui/state/state.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

const run = writeDump(smallRun(1, 8));
afterAll(() => run.remove());

test('the rollouts on both sides are read and laid out before they are asked for, and then nothing is left to do', async () => {
  const dump = Dump.open([run.dir]);
  await dump.start();
  const ignore = (): void => {};
  const data = new DumpData(
    { dump, live: new LiveRun(dump, []), keys: new Keymap(), pages: new Pages() },
    { changed: ignore, rowsChanged: ignore, found: ignore },
  );
  const file = dump.files[0]!;
  const at = (record: number): Place => ({ file, record });
  const first = initialState(120, 36);
  const state = { ...first, list: { ...first.list, cursor: at(3) } };
  data.layout(state);
  const read = vi.spyOn(file, 'read');
  for (let step = 0; step < 4; step++) expect(data.warm(state, [at(4), at(2)])).toBe(true);
  expect(data.warm(state, [at(4), at(2)])).toBe(false);
  expect(read.mock.calls.map(([record]) => record)).toEqual([4, 2]);
  // The screen then shows the prepared layout, for this width and view.
  const next = { ...state, list: { ...first.list, cursor: at(4) } };
  const layout = data.layout(next);
  expect(layout?.rows).toBeGreaterThan(5);
  expect(read).toHaveBeenCalledTimes(2);
  expect(data.warm({ ...next, display: { ...next.display, view: 'raw' } }, [at(2)])).toBe(true);
  dump.close();
});

test('waits for a pause, and never goes on without end', async () => {
  vi.useFakeTimers();
  try {
    let steps = 0;
    const ahead = new ReadAhead(() => {
      steps++;
      return true;
    });
    for (let key = 0; key < 20; key++) {
      ahead.touch();
      await vi.advanceTimersByTimeAsync(30);
    }
    expect(steps).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(steps).toBe(4);
  } finally {
    vi.useRealTimers();
  }
});
