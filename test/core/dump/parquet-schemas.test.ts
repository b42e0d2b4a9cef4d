import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { directoryWith } from '../../program.ts';

type Column = Parameters<typeof parquetWriteBuffer>[0]['columnData'][number];

const bytesOf = (...columnData: Column[]): Buffer => Buffer.from(parquetWriteBuffer({ columnData }));

test('files of one dump may each have a schema of their own', async () => {
  const directory = directoryWith({
    '1.parquet': bytesOf(
      { name: 'input', data: ['user\nhi\nassistant\n'], type: 'STRING' },
      { name: 'output', data: ['one'], type: 'STRING' },
      { name: 'score', data: [0.5], type: 'DOUBLE' },
    ),
    '2.parquet': bytesOf(
      { name: 'score', data: [1], type: 'INT32' },
      { name: 'output', data: ['two'], type: 'STRING' },
      { name: 'input', data: ['user\nhi\nassistant\n'], type: 'STRING' },
      { name: 'acc', data: [true], type: 'BOOLEAN' },
    ),
    '3.parquet': bytesOf(
      { name: 'prompt', data: ['hi'], type: 'STRING' },
      { name: 'completion', data: ['three'], type: 'STRING' },
      { name: 'reward', data: [0], type: 'DOUBLE' },
    ),
    '4.parquet': bytesOf({ name: 'loss', data: [0.1], type: 'DOUBLE' }),
  });
  const dump = Dump.open([directory]);
  for (const file of dump.files) await dump.index(file);
  const rows = dump.files.map((file) => {
    if (file.count === 0) return 'no rollout';
    const { rollout } = file.read(0);
    return [rollout?.turns.at(-1)?.text, rollout?.score, rollout?.extras.acc ?? null];
  });
  expect(rows).toEqual([['one', 0.5, null], ['two', 1, true], ['three', 0, null], 'no rollout']);
  dump.close();
});
