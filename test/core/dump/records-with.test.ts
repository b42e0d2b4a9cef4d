import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { recordsWith } from '../../../src/core/dump/records-with.ts';

test('the records that hold some bytes are reported once each, also where they are longer than a read', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'records-')), '1.jsonl');
  const long = 'x'.repeat(1_200_000);
  const record = (output: string) => `${JSON.stringify({ input: 'a', output })}\n`;
  writeFileSync(path, [`needle ${long} needle needle`, 'none', `${long}needle`, 'needle'].map(record).join('\n'));
  const dump = Dump.open([path]);
  const file = dump.files[0]!;
  await file.buildIndex(() => true);
  expect([...recordsWith(file, Buffer.from('needle'))]).toEqual([0, 2, 3]);
  expect([...recordsWith(file, Buffer.from('nothing'))]).toEqual([]);
  // There is nothing between records.
  expect([...recordsWith(file, Buffer.from('\n'))]).toEqual([]);
  dump.close();
});
