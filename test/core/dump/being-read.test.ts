import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';

test('a place that is not read yet is not called missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, '1.jsonl'), '{"input":"q","output":"a","score":1,"step":1}\n');
  const dump = Dump.open([folder]);
  onTestFinished(() => dump.close());
  const [file] = dump.files;
  const why = (line: number) => file?.whyNot({ line, part: 0, member: '' });
  expect(why(2)).toBe('it is still being read, and this place is not known yet');
  await file?.update({ holdBack: false });
  expect(why(2)).toBe('its last line is 1');
});
