// Commands that may stop before the end of an object, held to what they say of the same files on a disk, and to the bytes that they ask for.
import { readdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, describe, expect, test } from 'vitest';
import { ask, directoryWith, type Ended, verlLine } from '../../program.ts';
import { type Asked, type Fault, type ObjectServer, objectOf } from '../../support/object-server.ts';
import { seekable, storedFrame } from '../../support/zstd.ts';
import { bucketOf, closeAll, newCache } from './mirrored.ts';

afterEach(closeAll);

/** Texts that no codec makes much smaller. */
const noise = (seed: number, length: number): string => {
  let text = '';
  for (let state = seed + 1; text.length < length; state = (state * 1_103_515_245 + 12_345) % 2_147_483_648)
    text += state.toString(36);
  return text.slice(0, length);
};

type Rows = { output: string; score: number }[];
const PACKED: Record<string, (rows: Rows) => Uint8Array> = {
  jsonl: (rows) => Buffer.from(rows.map((row) => verlLine(row)).join('')),
  'jsonl.gz': (rows) => gzipSync(rows.map((row) => verlLine(row)).join(''), { level: 1 }),
  'jsonl.zst': (rows) => seekable(rows.map((row) => storedFrame(verlLine(row)))),
  parquet: (rows) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'input', data: rows.map(() => '<|im_start|>user\nhi<|im_end|>\n'), type: 'STRING' },
          { name: 'output', data: rows.map(({ output }) => output), type: 'STRING' },
          { name: 'score', data: rows.map(({ score }) => score), type: 'DOUBLE' },
        ],
        pageSize: 50_000,
        rowGroupSize: 200,
      }),
    ),
};
const ROWS: Rows = Array.from({ length: 600 }, (_, i) => ({ output: `${i} ${noise(i, 6000)}`, score: i % 2 }));

const gets = ({ asked }: ObjectServer): Asked[] => asked.filter(({ kind }) => kind === 'get');

/** What a command says of a bucket, and of the same files in a folder, with the addresses of both named alike. */
function sayer(server: ObjectServer, files: Record<string, string | Uint8Array>, cache = newCache()) {
  const folder = directoryWith(files);
  const env = { ...server.env, XDG_CACHE_HOME: cache };
  const named = (ended: Ended, root: string): Ended => ({
    code: ended.code,
    // A list is as wide as its names, and cuts them.
    stdout: ended.stdout
      .replaceAll(root, 'ROOT')
      .replace(/…\S*(?=\/run\/)/g, 'ROOT')
      .replace(/ +/g, ' '),
    stderr: ended.stderr.replaceAll(root, 'ROOT'),
  });
  return {
    there: async (words: (root: string) => string[]) => named(await ask(words('s3://bucket'), { env }), 's3://bucket'),
    here: async (words: (root: string) => string[]) => named(await ask(words(folder), { env }), folder),
  };
}

describe.each(Object.keys(PACKED))('1.%s', (ending) => {
  const bytes = PACKED[ending]?.(ROWS) ?? Buffer.of();
  const key = `run/1.${ending}`;

  test('show FILE:LINE and ls --limit read what they print, and not the rest', async () => {
    const server = await bucketOf({ [key]: bytes });
    const { there, here } = sayer(server, { [key]: bytes });
    for (const words of [
      (root: string) => ['show', `${root}/${key}:3`],
      (root: string) => ['ls', `${root}/run`, '--limit', '2'],
      (root: string) => ['show', `${root}/run`, '--limit', '2', '--jsonl'],
    ]) {
      const said = await there(words);
      expect(said).toEqual(await here(words));
      expect(said.code).toBe(0);
    }
    expect(server.bytesSent).toBeLessThan(bytes.length * 0.6);
    // What is here is not asked for again, and the rest makes it whole.
    const words = (root: string) => ['show', `${root}/run`, '--jsonl'];
    expect(await there(words)).toEqual(await here(words));
    const asked = gets(server).reduce((sum, { range }) => sum + lengthOf(range), 0);
    expect(asked).toBeGreaterThanOrEqual(bytes.length);
    // Pieces that were on their way when a command ended are asked for again.
    expect(asked).toBeLessThan(bytes.length * 1.5);
  });

  test('a record that is not there is said as of a disk', async () => {
    const server = await bucketOf({ [key]: bytes });
    const { there, here } = sayer(server, { [key]: bytes });
    const words = (root: string) => ['show', `${root}/${key}:601`];
    const said = await there(words);
    expect(said).toEqual(await here(words));
    expect(said.stderr).toContain('its last line is');
  });

  test.each<[string, Fault, RegExp]>([
    ['is refused', { kind: 'refuse', status: 403, code: 'ExpiredToken' }, /403 ExpiredToken: the keys have expired/],
    ['is cut every time', { kind: 'cut', after: 0 }, /fewer than it said|other side closed|aborted|terminated/],
  ])('that %s after its first bytes ends the command with the reason', async (_, fault, says) => {
    const server = await bucketOf({ [key]: bytes });
    let count = 0;
    server.fault = ({ kind }) => (kind === 'get' && count++ > 0 ? fault : null);
    const { there } = sayer(server, {});
    const said = await there((root) => ['show', `${root}/${key}:550`]);
    expect([said.code, said.stdout]).toEqual([2, '']);
    expect(said.stderr).toMatch(says);
  });

  test('that is replaced meanwhile is never a mix of both', async () => {
    const other = PACKED[ending]?.(ROWS.map(({ output }) => ({ output: `other ${output}`, score: 0 }))) ?? '';
    for (const isForgetful of [false, true]) {
      const server = await bucketOf({ [key]: bytes });
      let count = 0;
      server.fault = ({ kind }) => {
        if (kind === 'get' && count++ === 1) server.put(key, objectOf(Buffer.from(other)));
        return kind === 'get' && isForgetful ? { kind: 'forgetful' } : null;
      };
      const { there } = sayer(server, {});
      const said = await there((root) => ['show', `${root}/${key}:550`]);
      expect([said.code, said.stdout]).toEqual([2, '']);
      expect(said.stderr).toContain('was replaced while it was read');
      server.close();
    }
  });
});

const lengthOf = (range: string): number => {
  const [, from = 0, to = 0] = /(\d+)-(\d+)/.exec(range) ?? [];
  return Number(to) + 1 - Number(from);
};

test('of many files, those alone are read that the rows come from; the others leave no bytes', async () => {
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, step) => [`run/${step}.jsonl`, verlLine({ step })]));
  const server = await bucketOf(files);
  const cache = newCache();
  const { there, here } = sayer(server, files, cache);
  const words = (root: string) => ['ls', `${root}/run`, '--limit', '3', '--json'];
  expect(await there(words)).toEqual(await here(words));
  expect(gets(server).map(({ key }) => key)).toEqual(['run/0.jsonl', 'run/1.jsonl', 'run/2.jsonl']);
  const kept = readdirSync(cache, { recursive: true }).map(String);
  expect(kept.filter((name) => /\.(?:bytes|pieces)$/.test(name))).toEqual([]);
  server.asked.length = 0;
  const all = (root: string) => ['ls', `${root}/run`, '--csv'];
  expect(await there(all)).toEqual(await here(all));
  expect(gets(server)).toHaveLength(17);
});

test('drawn dumps: the first rows, and one of them, are those of a disk', async () => {
  const row = fc.record({ output: fc.string({ maxLength: 40 }), score: fc.constantFrom(0, 1) });
  const file = fc.record({
    step: fc.nat({ max: 9 }),
    ending: fc.constantFrom(...Object.keys(PACKED)),
    rows: fc.array(row, { minLength: 1, maxLength: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 8 }),
      fc.nat({ max: 6 }),
      async (drawn, limit, line) => {
        const files = Object.fromEntries(
          drawn.map(({ step, ending, rows }) => [`run/${step}.${ending}`, PACKED[ending]?.(rows) ?? '']),
        );
        const server = await bucketOf(files, { page: 2 });
        const { there, here } = sayer(server, files);
        const [first = ''] = Object.keys(files);
        for (const words of [
          (root: string) => ['ls', `${root}/run`, '--limit', String(limit), '--json'],
          (root: string) => ['show', `${root}/${first}:${line}`],
        ])
          expect(await there(words)).toEqual(await here(words));
        server.close();
      },
    ),
    { numRuns: 8 },
  );
});
