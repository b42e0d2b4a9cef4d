// Rows for files that have not come: known without a reading, and the same as after one.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpFile } from '../../../src/core/dump/dump-file.ts';
import { noteOrigin } from '../../../src/core/dump/origins.ts';
import { directoryWith, verlLine } from '../../program.ts';

const saidOf = (file: DumpFile): unknown => {
  const { json, error, findings, raw, line, bytes } = file.read(0);
  const { count, state, isAway, step, version } = file;
  const columns = file.index.columns.columns.map(([name, column]) => [name, column.at(0)]);
  const known = [
    file.score(0),
    file.stepOf(0),
    file.index.looked,
    file.details(0),
    file.locator(0).replace(/.*\//, ''),
  ];
  return { json, error, findings, raw, line, bytes, count, state, isAway, step, version, columns, known };
};

async function rowOf(line: string, isCopy: boolean): Promise<unknown> {
  const folder = directoryWith({ '3.jsonl': line });
  const path = join(folder, '3.jsonl');
  if (isCopy) noteOrigin(path, { modified: 0, known: 0 });
  const dump = Dump.open([folder]);
  await dump.start();
  const rows = dump.files.map(saidOf);
  dump.close();
  return rows;
}

test('a placeholder is the row that reading it makes, whatever is in its place', async () => {
  const says = fc.string({ unit: 'grapheme', maxLength: 60 });
  const start = fc.constantFrom('{"rollout_viewer_pending": ', '{"rollout_viewer_pending":', '{"input": ');
  const end = fc.constantFrom('}\n', '}', '\n', '', `}\n${verlLine()}`, '}\n\n');
  await fc.assert(
    fc.asyncProperty(start, says, end, async (start, says, end) => {
      const line = start + JSON.stringify(says) + end;
      expect(await rowOf(line, true)).toEqual(await rowOf(line, false));
    }),
    { numRuns: 40 },
  );
});

test('files that are away share their facts until one of them comes', async () => {
  const pending = '{"rollout_viewer_pending": "not here yet"}\n';
  const folder = directoryWith({ '1.jsonl': pending, '2.jsonl': pending });
  for (const name of ['1.jsonl', '2.jsonl']) noteOrigin(join(folder, name), { modified: 0, known: 9 });
  const dump = Dump.open([folder]);
  await dump.start();
  const [one, two] = dump.files;
  if (one === undefined || two === undefined) throw new Error('no files');
  expect(one.index.columns).toBe(two.index.columns);
  await dump.lookAt(one, [0], true);
  const before = saidOf(two);
  one.index.ownColumns.extras.add('own');
  writeFileSync(join(folder, '1.jsonl'), verlLine({ score: 0.5 }));
  await dump.refresh(one);
  await dump.lookAt(one, [0], true);
  expect([one.isAway, one.score(0), one.index.columns.extras.has('own')]).toEqual([false, 0.5, false]);
  expect(saidOf(two)).toEqual(before);
  dump.close();
});
