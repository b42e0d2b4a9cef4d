import { renameSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { LONG_RECORD } from '../../../src/core/dump/long-record.ts';
import { itemAt } from '../../../src/core/lists/at.ts';
import { LongTexts } from '../../../src/viewer/present/transcript/long-text.ts';
import { longText } from '../../../src/viewer/tui/rows/shown-sections.ts';
import { type DisplayState, firstDisplay } from '../../../src/viewer/tui/state/display.ts';
import { directoryWith } from '../../program.ts';

const LINE = JSON.stringify({ input: 'user\nhi\nassistant\n', output: 'a line\n'.repeat(LONG_RECORD / 4), score: 1 });
const texts = new LongTexts();
const dump = Dump.open([directoryWith({ '1.jsonl': `${LINE}\n` })]);
let record: DumpRecord;

beforeAll(async () => {
  await dump.start();
  record = dump.read({ file: itemAt(dump.files, 0), record: 0 });
});
afterAll(() => {
  texts.close();
  dump.close();
});

const fields: DisplayState = { ...firstDisplay, view: 'fields' };

/** Blocks of a view once all are there. */
const arrived = (display: DisplayState, from = texts): Promise<unknown> =>
  new Promise((resolve) => {
    const look = (): void => {
      for (const block of blocks ?? []) if (block === null) return;
      resolve(blocks);
    };
    const blocks = longText(from, record, display, new Map(), look);
    look();
  });

test('fields that somebody still has are not read again, whatever is folded', async () => {
  const first = await arrived(fields);
  expect(longText(texts, record, fields, new Map([['field.output.clip', false]]), () => {})).toBe(first);
  expect(longText(new LongTexts(), record, fields, null, () => {})).toBe(first);
});

test('other fields, and JSON, are read', async () => {
  const first = await arrived(fields);
  const hidden = await arrived({ ...fields, hidden: ['input'] });
  expect(hidden).not.toBe(first);
  expect(await arrived(fields)).not.toBe(hidden);
  expect(await arrived({ ...fields, view: 'json' })).not.toBe(await arrived({ ...fields, view: 'json' }));
});

test('what could not be read is read once it can be', async () => {
  const { path } = itemAt(dump.files, 0);
  // Another record of the same file: nothing of it is known.
  record = { ...record };
  renameSync(path, `${path}.away`);
  // The thread of the others has read it already.
  const another = new LongTexts();
  const gone = await arrived(fields, another);
  another.close();
  renameSync(`${path}.away`, path);
  const back = await arrived(fields);
  expect(back).not.toBe(gone);
  expect([...(back as Iterable<{ text: string }>)].map(({ text }) => text).join('\n')).toContain('a line');
});
