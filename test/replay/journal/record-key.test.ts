import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { LONG_RECORD } from '../../../src/core/dump/long-record.ts';
import { recordKey } from '../../../src/replay/journal/record-key.ts';
import { keyOfRow } from '../../../src/viewer/tui/runner/planned.ts';
import { directoryWith, verlLine } from '../../program.ts';

test('the key of a long record is that of the text that was read, whatever its file holds by then', async () => {
  const [line, other] = ['é', 'z'].map((word) => verlLine({ output: word.repeat(LONG_RECORD) }));
  const directory = directoryWith({ '1.jsonl': line ?? '' });
  const dump = Dump.open([directory]);
  const [file] = dump.files;
  if (file === undefined) throw new Error('no file');
  await dump.index(file);
  const row = await dump.readLong({ file, record: 0 }, () => true);
  writeFileSync(join(directory, '1.jsonl'), other ?? '');
  expect(row?.rollout?.turns.length).toBeGreaterThan(0);
  expect(row === null ? null : keyOfRow(row)).toBe(recordKey((line ?? '').trimEnd()));
  dump.close();
});
