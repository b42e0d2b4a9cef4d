import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { shownSections } from '../../../src/viewer/tui/rows/shown-sections.ts';
import { initialState } from '../../../src/viewer/tui/state/state.ts';
import { blocksOf } from '../../support/blocks-of.ts';
import { writeDump } from '../../support/dump.ts';

test.each([
  ['by its keys', 14_000, ''],
  ['by its bytes', 2, 'x'.repeat(3_000_000)],
])('a record that takes too much memory %s is shown as that, and its JSON is not parsed', async (_, turns, content) => {
  const messages = Array.from({ length: turns }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content }));
  const { dir, remove } = writeDump({ '1.jsonl': [JSON.stringify({ messages }), JSON.stringify({ notes: 1 })] });
  const dump = Dump.open([dir], { reading: { memory: 50e6 } });
  const [file] = dump.files;
  await dump.index(file!);
  const shown = (record: number): string => {
    const nothing = { group: '', groupFrom: '', advantage: null, labels: [] };
    const { display } = initialState(80, 24);
    return [...blocksOf(shownSections(file!.read(record), display, new Map(), nothing, null))]
      .map(({ text }) => text)
      .join('\n');
  };
  expect(shown(0)).toMatch(/^to read it takes some 6\d\.\d MB, and --memory leaves 50\.0 MB for a record$/m);
  expect(shown(0)).not.toContain('messages');
  // Another record without a rollout is shown with its keys.
  expect(shown(1)).toContain('notes');
  remove();
});
