import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';

const folderWith = (name: string, text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return folder;
};

test('a place in a file that cannot be read is not called missing', async () => {
  const dump = Dump.open([folderWith('1.parquet', 'PAR1, cut off')]);
  onTestFinished(() => dump.close());
  const [file] = dump.files;
  await file?.update({ holdBack: false });
  expect(file?.whyNot({ line: 2, part: 0, member: '' })).toMatch(/^its footer cannot be read/);
});

test('a place that is not read yet is not called missing', async () => {
  const dump = Dump.open([folderWith('1.jsonl', '{"input":"q","output":"a","score":1,"step":1}\n')]);
  onTestFinished(() => dump.close());
  const [file] = dump.files;
  const why = (line: number) => file?.whyNot({ line, part: 0, member: '' });
  expect(why(2)).toBe('it is still being read, and this place is not known yet');
  await file?.update({ holdBack: false });
  expect(why(2)).toBe('its last line is 1');
});
