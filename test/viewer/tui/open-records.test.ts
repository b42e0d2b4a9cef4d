import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { OpenRecords } from '../../../src/viewer/tui/rows/open-records.ts';
import { directoryWith } from '../../program.ts';
import { toolRollout } from '../../support/dump.ts';

const line = (sample: number): string => `${JSON.stringify(toolRollout(1, sample, 1))}\n`;

/** The first record of a file, opened, and again after the file was rewritten. */
async function rewritten(before: string, after: string) {
  const folder = directoryWith({ '1.jsonl': before });
  const dump = Dump.open([folder]);
  await dump.start();
  const file = dump.files[0]!;
  const records = new OpenRecords(dump, () => {});
  const place = { file, record: 0 };
  records.open(place);
  const first = records.of(place);
  writeFileSync(join(folder, '1.jsonl'), after);
  await file.update({ holdBack: false });
  records.changed();
  const change = records.diskChange(place);
  records.open(place);
  const again = records.of(place);
  dump.close();
  return { first, change, again };
}

test('a row that stood for a file of another machine becomes its rollout once it is here', async () => {
  const { first, change, again } = await rewritten(
    '{"rollout_viewer_pending": "not here yet: 10 MB at s3://b"}\n',
    line(1),
  );
  expect(first).toMatchObject({ error: 'not here yet: 10 MB at s3://b', rollout: null });
  expect(change).toBe('');
  expect(again.rollout?.turns.length).toBeGreaterThan(1);
});

test('a rollout that was replaced stays as it was read', async () => {
  const { first, change, again } = await rewritten(line(1), line(2) + line(3));
  expect(change).toBe('replaced on disk, R loads it');
  expect(again.raw).toBe(first.raw);
});
