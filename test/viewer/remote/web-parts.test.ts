// A file behind a URL that does not grow: its parts come as they are read, those of one content alone.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterEach, expect, test } from 'vitest';
import { ask, verlLine } from '../../program.ts';
import { newCache } from './mirrored.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const one of servers.splice(0)) {
    one.close();
    one.closeAllConnections();
  }
});

const noise = (seed: number): string => Array.from({ length: 500 }, (_, i) => Math.sin(seed * 991 + i)).join(' ');
const parquet = (word: string): Buffer =>
  Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'input', data: Array.from({ length: 400 }, () => 'user\nhi\nassistant\n'), type: 'STRING' },
        { name: 'output', data: Array.from({ length: 400 }, (_, i) => `${word} ${i} ${noise(i)}`), type: 'STRING' },
      ],
      rowGroupSize: 50,
    }),
  );
const lines = (word: string): Buffer =>
  Buffer.from(Array.from({ length: 400 }, (_, i) => verlLine({ output: `${word} ${i} ${noise(i)}` })).join(''));

interface Served {
  bytes: Buffer;
  headers: Record<string, string>;
  sent: number;
  /** If-Range is not looked at. */
  isForgetful?: boolean;
  hasRanges?: boolean;
  asked?: () => void;
}

async function serve(one: Served): Promise<string> {
  const server = createServer((request, response) => {
    one.asked?.();
    const { range, 'if-range': only } = request.headers;
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? [];
    const isOwn = only === undefined || one.isForgetful || Object.values(one.headers).includes(String(only));
    const isPart = from !== undefined && one.hasRanges !== false && isOwn;
    const first = isPart ? Number(from) : 0;
    const end = isPart && to ? Math.min(one.bytes.length, Number(to) + 1) : one.bytes.length;
    const place = isPart ? { 'content-range': `bytes ${first}-${end - 1}/${one.bytes.length}` } : {};
    response.writeHead(isPart ? 206 : 200, { ...one.headers, ...place, 'content-length': end - first });
    const body = one.bytes.subarray(first, end);
    response.on('close', () => {
      one.sent += body.length;
    });
    response.end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const show = (url: string) => ask(['show', url], { env: { XDG_CACHE_HOME: newCache() } });

test.each([
  ['1.parquet', parquet, { etag: '"a"' }],
  ['1.parquet', parquet, { etag: 'W/"a"', 'last-modified': 'Mon, 06 Jan 2025 10:00:00 GMT' }],
  ['1.jsonl', lines, { etag: '"a"' }],
] as const)('one rollout of %s takes no more than its parts', async (name, made, headers) => {
  const one: Served = { bytes: made('first'), headers, sent: 0 };
  const said = await show(`${await serve(one)}/${name}:3`);
  expect([said.code, said.stderr]).toEqual([0, '']);
  expect(said.stdout).toContain('first 2 ');
  expect(one.sent / one.bytes.length).toBeLessThan(0.6);
});

test.each([
  ['without ranges', { etag: '"a"' }, false],
  ['that names no version', {}, true],
])('a server %s sends all of it', async (_, headers: Record<string, string>, hasRanges) => {
  const one: Served = { bytes: parquet('first'), headers, hasRanges, sent: 0 };
  const said = await show(`${await serve(one)}/1.parquet:3`);
  expect([said.code, said.stdout.includes('first 2 ')]).toEqual([0, true]);
  expect(one.sent).toBeGreaterThanOrEqual(one.bytes.length);
});

test.each([false, true])(
  'a file that is replaced meanwhile is never a mix; If-Range is forgotten: %s',
  async (isForgetful) => {
    let count = 0;
    const one: Served = { bytes: parquet('first'), headers: { etag: '"a"' }, sent: 0, isForgetful };
    one.asked = () => {
      if (count++ !== 2) return;
      one.bytes = parquet('second');
      one.headers = { etag: '"b"' };
    };
    const said = await show(`${await serve(one)}/1.parquet:390`);
    expect([said.code, said.stdout]).toEqual([2, '']);
    expect(said.stderr).toContain('was replaced while it was read');
  },
);

test('a file that is replaced within the second of its time is known by its length', async () => {
  const headers = { 'last-modified': 'Mon, 06 Jan 2025 10:00:00 GMT' };
  let count = 0;
  const one: Served = { bytes: parquet('first'), headers, sent: 0 };
  one.asked = () => {
    if (count++ === 2) one.bytes = parquet('another one');
  };
  const said = await show(`${await serve(one)}/1.parquet:390`);
  expect([said.code, said.stdout]).toEqual([2, '']);
  expect(said.stderr).toContain('was replaced while it was read');
});
