import { expect, test } from 'vitest';
import { LiveRun } from '../../../src/analysis/live-run.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { COLOURS } from '../../../src/viewer/present/theme.ts';
import { Keymap } from '../../../src/viewer/tui/keys/keymap.ts';
import { Pages } from '../../../src/viewer/tui/pages/pages.ts';
import { DumpData } from '../../../src/viewer/tui/rows/dump-data.ts';
import { initialState } from '../../../src/viewer/tui/state/state.ts';
import { listView } from '../../../src/viewer/tui/views/list.ts';
import { smallRun, writeDump } from '../../support/dump.ts';

test('scores are coloured from the lowest to the highest once they are read, also where no width changes', async () => {
  const { dir, remove } = writeDump(smallRun(3, 8));
  const dump = Dump.open([dir]);
  const data = new DumpData(
    { dump, live: new LiveRun(dump, []), keys: new Keymap(), pages: new Pages() },
    { changed() {}, rowsChanged() {}, found() {} },
  );
  try {
    const state = initialState(120, 30);
    const drawn = (): string => {
      const { listWidth } = data.geometry(state);
      return listView({ state, data, theme: COLOURS, name: '' }, listWidth, 28).join('\n');
    };
    drawn();
    for (const file of dump.files) await dump.index(file);
    data.changed();
    const scores = new Set(Array.from(drawn().matchAll(/\x1b\[([\d;]+)m *[01]\.00/g), ([, style]) => style));
    expect(scores.size).toBeGreaterThanOrEqual(2);
  } finally {
    dump.close();
    remove();
  }
});
