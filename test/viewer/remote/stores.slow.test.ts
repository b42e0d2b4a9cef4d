// Drawn dumps behind a store that fails, held to the same files on a disk.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { directoryWith, verlLine } from '../../program.ts';
import { type Fault, objectOf } from '../../support/object-server.ts';
import { peakFromNow } from '../../support/peak-memory.ts';
import { countOf } from '../../support/tier.ts';
import { storedFrame } from '../../support/zstd.ts';
import { bucketOf, closeAll, mirrorOf, problemOf } from './mirrored.ts';

afterEach(closeAll);

const PACKED: Record<string, (rows: Record<string, unknown>[]) => Uint8Array> = {
  jsonl: (rows) => Buffer.from(rows.map((row) => verlLine(row)).join('')),
  'jsonl.gz': (rows) => gzipSync(rows.map((row) => verlLine(row)).join('')),
  'jsonl.zst': (rows) => Buffer.concat(rows.map((row) => storedFrame(verlLine(row)))),
  parquet: (rows) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: ['input', 'output', 'gts'].map((name) => ({
          name,
          data: rows.map((row) => String(row[name] ?? 'x')),
          type: 'STRING',
        })),
      }),
    ),
};

test('a dump on a store says what it says on a disk, whatever goes wrong on the way', async () => {
  const row = fc.record({ output: fc.string({ maxLength: 30 }), score: fc.constantFrom(0, 0.5, 1) });
  const file = fc.record({
    folder: fc.constantFrom('', 'train/', 'val/'),
    step: fc.nat({ max: 30 }),
    kind: fc.constantFrom(...Object.keys(PACKED)),
    rows: fc.array(row, { minLength: 1, maxLength: 8 }),
  });
  const fault = fc.option(
    fc.oneof(
      fc.constant<Fault>({ kind: 'refuse', status: 503, code: 'SlowDown' }),
      fc.nat({ max: 300 }).map((after): Fault => ({ kind: 'cut', after })),
      fc.integer({ min: 1, max: 300 }).map((bytes): Fault => ({ kind: 'short', bytes })),
    ),
    { freq: 2 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { minLength: 1, maxLength: 5 }),
      fc.array(fault, { maxLength: 4 }),
      async (drawn, faults) => {
        const files = Object.fromEntries(
          drawn.map(({ folder, step, kind, rows }) => [`run/${folder}${step}.${kind}`, PACKED[kind]?.(rows) ?? '']),
        );
        const server = await bucketOf(files, { page: 2 });
        const left = faults.slice();
        server.fault = () => left.shift() ?? null;
        const there = await rowsOf(await mirrorOf('s3://bucket/run').open());
        expect(there).toEqual(await rowsOf(join(directoryWith(files), 'run')));
        server.close();
      },
    ),
    { numRuns: countOf(15, 40) },
  );
});

test('a list of more names than any dump has ends where that is known', async () => {
  const server = await bucketOf({}, { page: 1000 });
  const one = objectOf('');
  for (let at = 0; at < 201_001; at++) server.put(`run/${at}.jsonl`, one);
  expect(await problemOf(mirrorOf('s3://bucket/run'))).toMatch(/more than 200000 files; name a folder nearer/);
  expect(server.asked.length).toBe(201);
});

test('a list of a hundred thousand names is as many rows, in bounded memory', async () => {
  const server = await bucketOf({}, { page: 1000 });
  const one = objectOf(verlLine());
  for (let at = 0; at < 100_000; at++) server.put(`run/${at}.jsonl`, one);
  const taken = peakFromNow();
  const mirror = mirrorOf('s3://bucket/run', { follows: true, brings: 'looked-at' });
  const dump = Dump.open([await mirror.open()]);
  await dump.start();
  expect(dump.files.length).toBe(100_000);
  expect(dump.files.filter(({ isAway }) => isAway).length).toBeGreaterThan(99_000);
  expect(taken()).toBeLessThan(900);
  dump.close();
});

async function rowsOf(root: string): Promise<unknown[]> {
  const dump = Dump.open([root]);
  await dump.start();
  const rows = dump.files.flatMap((file) =>
    Array.from({ length: file.count }, (_, at) => {
      const { locator, raw, step, score } = { ...file.read(at), step: file.stepOf(at), score: file.score(at) };
      return [locator.slice(root.length), raw, step, score];
    }),
  );
  dump.close();
  return rows;
}
