import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { JsonFile } from '../../../src/analysis/export/files/json-file.ts';
import { MessagePackFile } from '../../../src/analysis/export/files/message-pack-file.ts';
import { ParquetFile } from '../../../src/analysis/export/files/parquet-file.ts';
import { TorchFile } from '../../../src/analysis/export/files/torch-file.ts';
import { directoryWith, execute } from '../../program.ts';

const messages = [
  { role: 'user', content: 'Grüße 👩‍💻\n"x"' },
  { role: 'assistant', content: '' },
];

test('parquet holds every row of several groups, nested columns too', async () => {
  const path = join(directoryWith({}), 'a.parquet');
  const file = new ParquetFile(path, [
    { name: 'id', type: 'text' },
    { name: 'messages', type: 'messages' },
    { name: 'reward_model', type: 'struct', keys: ['style', 'ground_truth'] },
  ]);
  const rows = Array.from({ length: 2500 }, (_, at) => ({
    id: `r${at}`,
    messages: at % 3 === 0 ? [] : messages,
    reward_model: { style: 'rule', ground_truth: `${at}` },
  }));
  for (const row of rows) file.add(row);
  await file.finish();
  file.publish();
  const bytes = readFileSync(path);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  expect(await parquetReadObjects({ file: buffer })).toEqual(rows);
});

const READ = `
import io, json, pickle, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    assert z.read('archive/version') == b'3\\n'
    print(json.dumps(pickle.loads(z.read('archive/data.pkl')), ensure_ascii=True, allow_nan=True))
`;

test('a torch file is a zip with a pickle that Python reads back as it was', async () => {
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
      fc.string({ unit: 'grapheme' }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).value;
  const rows = fc.sample(values, { numRuns: 200, seed: 1 }).map((value) => ({ value: value as never }));
  const path = join(directoryWith({}), 's.pt');
  const file = new TorchFile(path);
  for (const row of rows) file.add(row);
  await file.finish();
  file.publish();
  const { stdout, stderr, code } = await execute('python3', ['-c', READ, path]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const printed = (value: unknown): string =>
    JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : Object.is(one, -0) ? 0 : one));
  expect(printed(JSON.parse(stdout))).toBe(printed({ rollout_id: 0, samples: rows }));
});

test('a file is there whole or not at all', async () => {
  const folder = directoryWith({ 'a.jsonl': 'before\n' });
  const path = join(folder, 'a.jsonl');
  const dropped = new JsonFile(path, false);
  dropped.add({ a: 1 });
  dropped.discard();
  expect(readFileSync(path, 'utf8')).toBe('before\n');
  const array = new JsonFile(join(folder, 'b.json'), true);
  array.add({ a: 1 });
  array.add({ b: 2n ** 70n });
  expect(existsSync(join(folder, 'b.json'))).toBe(false);
  await array.finish();
  array.publish();
  expect(readFileSync(join(folder, 'b.json'), 'utf8')).toBe('[\n{"a":1},\n{"b":1180591620717411303424}\n]\n');
  expect(readdirSync(folder).sort()).toEqual(['a.jsonl', 'b.json']);
});

test('a MessagePack file is the list of the values of its rows', async () => {
  const path = join(directoryWith({}), 'a.bin');
  const file = new MessagePackFile(path);
  file.add({ a: [1, 300, -1], b: 0.5, c: true, d: null, e: 'é' });
  file.add({ a: [] });
  await file.finish();
  file.publish();
  const list = (count: number) => `dd0000000${count}`;
  const first = `${list(5)}${list(3)}01d20000012cd2ffffffffcb3fe0000000000000c3c0db00000002c3a9`;
  expect(readFileSync(path).toString('hex')).toBe(`${list(2)}${first}${list(1)}${list(0)}`);
});
