// Objects of a store that come in parts: parquet and seekable zstd, as somebody reads them.
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { DumpFile } from '../../../src/core/dump/dump-file.ts';
import { originOf } from '../../../src/core/dump/origins.ts';
import { verlLine } from '../../program.ts';
import { type Asked, type ObjectServer, objectOf } from '../../support/object-server.ts';
import { seekable, storedFrame } from '../../support/zstd.ts';
import { bucketOf, closeAll, contentOf, mirrorOf, newCache } from './mirrored.ts';

afterEach(closeAll);

const until = (holds: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(holds()).toBe(true), { timeout: 120_000, interval: 5 });

/** Bytes that no codec makes smaller. */
function noise(seed: number, length: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += state.toString(36);
  }
  return text.slice(0, length);
}

/** Few and long: each look at a file reads all of them. */
const LENGTH = 12_000;
const OUTPUTS = Array.from({ length: 150 }, (_, i) => `${i} ${noise(i, LENGTH)}`);
const parquetOf = (outputs: readonly string[]): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'input', data: outputs.map(() => '<|im_start|>user\nhi<|im_end|>\n'), type: 'STRING' },
        { name: 'output', data: [...outputs], type: 'STRING' },
        { name: 'score', data: outputs.map((_, i) => i % 2), type: 'DOUBLE' },
      ],
      pageSize: 50_000,
    }),
  );
const PARQUET = parquetOf(OUTPUTS);
const ZSTD = seekable(OUTPUTS.map((output) => storedFrame(verlLine({ output }))));

const gets = ({ asked }: ObjectServer): Asked[] => asked.filter(({ kind }) => kind === 'get');
const rangeOf = ({ range }: Asked): [number, number] => {
  const [, from = 0, to = 0] = /(\d+)-(\d+)/.exec(range) ?? [];
  return [Number(from), Number(to) + 1];
};
/** A text too long to be shown by a test that fails. */
const brief = (text: string): string => `${text.slice(0, 12)} ${createHash('md5').update(text).digest('hex')}`;
const outputsOf = (file: DumpFile): string[] =>
  Array.from({ length: file.count }, (_, at) => brief((JSON.parse(file.read(at).raw) as { output: string }).output));
const BRIEF = OUTPUTS.map(brief);

async function opened(
  cache: string,
  says: (status: string) => void = () => {},
): Promise<{ dump: Dump; file: DumpFile; root: string }> {
  const mirror = mirrorOf('s3://bucket', { cache, follows: true, brings: 'looked-at' });
  mirror.onStatus(() => says(mirror.status ?? ''));
  const root = await mirror.open();
  const dump = Dump.open([root]);
  await dump.start();
  const [file] = dump.files;
  if (file === undefined) throw new Error('no file');
  return { dump, file, root };
}

describe.each([
  ['parquet', PARQUET],
  ['jsonl.zst', ZSTD],
])('1.%s', (ending, bytes) => {
  const key = `1.${ending}`;

  test('its rows are those of the object; each byte comes once, and the copy is whole in the end', async () => {
    const server = await bucketOf({ [key]: bytes });
    const { dump, file, root } = await opened(newCache());
    expect([file.error, file.count]).toEqual([null, OUTPUTS.length]);
    expect(outputsOf(file)).toEqual(BRIEF);
    const ranges = gets(server).map(rangeOf);
    // Its end says where the rest is.
    expect(ranges.slice(0, 2).some(([, end]) => end === bytes.length)).toBe(true);
    expect(ranges.reduce((sum, [from, end]) => sum + end - from, 0)).toBe(bytes.length);
    await until(() => originOf(join(root, key))?.partial === undefined);
    expect(Buffer.from(contentOf(root)[key] ?? '', 'latin1').equals(Buffer.from(bytes))).toBe(true);
    // The same bytes are not read again.
    const { generation } = file;
    expect(await file.update({ holdBack: true })).toBe('none');
    expect([file.generation, file.isAway]).toEqual([generation, false]);
    const names = readdirSync(root).filter((name) => name.startsWith(`.${key}`));
    expect(names).toEqual([]);
    dump.close();
  });

  test('another session asks for the parts alone that are missing', async () => {
    const server = await bucketOf({ [key]: bytes });
    const cache = newCache();
    let sent = 0;
    server.fault = ({ kind }) =>
      kind === 'get' && sent++ > 2 ? { kind: 'refuse', status: 403, code: 'ExpiredToken' } : null;
    const first = await opened(cache);
    expect(first.file.error).toContain('403 ExpiredToken');
    const had = gets(server).slice(0, 3).map(rangeOf);
    first.dump.close();
    server.fault = () => null;
    server.asked.length = 0;
    const second = await opened(cache);
    expect(outputsOf(second.file)).toEqual(BRIEF);
    for (const [from, end] of gets(server).map(rangeOf))
      for (const [start, stop] of had) expect(end <= start || from >= stop).toBe(true);
    second.dump.close();
  });

  test('if it is replaced meanwhile, rows of both never meet', async () => {
    const others = OUTPUTS.map((_, i) => `${i} other ${noise(i + 5000, LENGTH)}`);
    const other =
      ending === 'parquet' ? parquetOf(others) : seekable(others.map((output) => storedFrame(verlLine({ output }))));
    for (const forgetful of [false, true]) {
      const server = await bucketOf({ [key]: bytes });
      let count = 0;
      server.fault = ({ kind }) => {
        if (kind === 'get' && count++ === 3) server.put(key, objectOf(Buffer.from(other)));
        return kind === 'get' && forgetful ? { kind: 'forgetful' } : null;
      };
      const { dump, file, root } = await opened(newCache());
      expect(file.error).toContain('was replaced while it was read');
      for (const [at, output] of outputsOf(file).entries()) expect(output).toBe(BRIEF[at]);
      await until(() => originOf(join(root, key))?.partial !== undefined);
      await vi.waitFor(
        async () => {
          await file.update({ holdBack: true });
          expect([file.error, file.count, file.isAway]).toEqual([null, others.length, false]);
        },
        { timeout: 120_000, interval: 50 },
      );
      expect(outputsOf(file)).toEqual(others.map(brief));
      dump.close();
      server.close();
    }
  });

  test('answers that are cut or short are asked for again; a busy store, too', async () => {
    const server = await bucketOf({ [key]: bytes });
    let count = 0;
    server.fault = ({ kind }) => {
      if (kind === 'list' || count > 5) return null;
      const at = count++ % 4;
      if (at === 0) return { kind: 'cut', after: 100_000 };
      if (at === 1) return { kind: 'short', bytes: 70_000 };
      return at === 2 ? { kind: 'refuse', status: 503, code: 'SlowDown' } : null;
    };
    const { dump, file } = await opened(newCache());
    expect(outputsOf(file)).toEqual(BRIEF);
    dump.close();
  });
});

test('gzip, zstd without a seek table, and names that promise what is not inside, come whole', async () => {
  const plain = Buffer.concat(OUTPUTS.map((output) => storedFrame(verlLine({ output }))));
  for (const [key, bytes] of [
    ['1.jsonl.zst', plain],
    ['1.parquet', Buffer.from(OUTPUTS.map((output) => verlLine({ output })).join(''))],
    ['1.jsonl.gz', gzipSync(OUTPUTS.map((output) => verlLine({ output })).join(''), { level: 0 })],
  ] as const) {
    const server = await bucketOf({ [key]: bytes });
    const said: string[] = [];
    const { dump, file } = await opened(newCache(), (status) => said.push(status));
    expect(outputsOf(file)).toEqual(BRIEF);
    expect(said.some((status) => status.endsWith(`; /${key} cannot be read in parts`))).toBe(true);
    dump.close();
    server.close();
  }
});

test.each([
  ['1.parquet', PARQUET],
  [
    '1.jsonl.zst',
    seekable(
      Array.from({ length: 3 }, () => OUTPUTS).flatMap((all) => all.map((output) => storedFrame(verlLine({ output })))),
    ),
  ],
])('in a thread it says the same: %s', async (key, bytes) => {
  await bucketOf({ [key]: bytes });
  const mirror = mirrorOf('s3://bucket', { follows: true, brings: 'looked-at' });
  const root = await mirror.open();
  const dump = Dump.open([root]);
  const [file] = dump.files;
  await file?.update({ holdBack: true, inThread: true });
  const found = file === undefined ? [] : outputsOf(file);
  expect(found).toEqual(Array.from({ length: found.length / BRIEF.length }, () => BRIEF).flat());
  expect(found.length).toBeGreaterThan(0);
  dump.close();
});

test('a list of pieces without its bytes counts for nothing', async () => {
  const server = await bucketOf({ '1.parquet': PARQUET });
  const cache = newCache();
  server.fault = ({ kind, range }) =>
    kind === 'get' && !range.startsWith('bytes=0-') ? { kind: 'refuse', status: 403, code: 'AccessDenied' } : null;
  const first = await opened(cache);
  first.dump.close();
  const names = readdirSync(first.root).filter((name) => name.endsWith('.pieces'));
  expect(names).toHaveLength(1);
  const lost = join(first.root, names[0]?.replace(/pieces$/, 'bytes') ?? '');
  rmSync(lost);
  server.fault = () => null;
  const second = await opened(cache);
  expect(outputsOf(second.file)).toEqual(BRIEF);
  second.dump.close();
});

test('a smaller object, and one that commands read, come whole', async () => {
  const small = parquetOf(OUTPUTS.slice(0, 20));
  const server = await bucketOf({ '1.parquet': small });
  const { dump, file } = await opened(newCache());
  expect(outputsOf(file)).toEqual(BRIEF.slice(0, 20));
  dump.close();
  expect(gets(server).map(rangeOf)).toEqual([[0, small.length]]);
  server.put('1.parquet', objectOf(Buffer.from(PARQUET)));
  server.asked.length = 0;
  await mirrorOf('s3://bucket').open();
  expect(gets(server).map(rangeOf)).toEqual([[0, PARQUET.length]]);
});
