// A machine that lies: its words choose no path here, its bytes fill no disk, its redirects reach nobody else.
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type Address, remoteName } from '../../../src/viewer/remote/address.ts';
import type { Machine, RemoteFile } from '../../../src/viewer/remote/machine.ts';
import { Mirror } from '../../../src/viewer/remote/mirror.ts';
import { checkedListing, isPlainPath } from '../../../src/viewer/remote/plain-path.ts';
import { isInternal } from '../../../src/viewer/remote/private-address.ts';
import { WebSource } from '../../../src/viewer/remote/web.ts';

const address = { kind: 'ssh', name: 'there:', host: 'there', port: null, path: '/runs' } as Address;
const file = (path: string, size: number): RemoteFile => ({ path, size, modified: 1000, inode: '1' });

function machine(listing: { root: string; files: RemoteFile[] }, read: Machine['read']): Machine {
  return { name: 'there', list: async () => listing, read, close: () => {} };
}

async function mirrored(source: Machine, most = 1e6, at = address): Promise<{ cache: string; problem: string | null }> {
  const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
  const mirror = new Mirror({ source, address: at, cache, most, follows: false, attempts: 3 });
  const problem = await mirror.open().then(
    () => null,
    (error: Error) => error.message,
  );
  mirror.close();
  return { cache, problem };
}

const sizes = (folder: string): number =>
  readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, String(name))))
    .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.from('{"input":"q"}\n'.repeat(1000));
}

describe('a list', () => {
  test.each(['/../../etc', '/..', 'etc', '', '/a/./b', '/a/../b', '/\0'])('of the root %j is refused', async (root) => {
    const { problem, cache } = await mirrored(machine({ root, files: [file(`${root}/1.jsonl`, 5)] }, endless));
    expect(problem).toContain('which is not a path');
    expect(readdirSync(join(cache, '..'))).not.toContain('etc');
  });

  test('keeps what is below its root, whatever it says', () => {
    const path = fc.array(fc.constantFrom('..', '.', '', 'a', 'b\0', 'runs', '1.jsonl'), { maxLength: 5 });
    fc.assert(
      fc.property(path, path, fc.double(), (root, below, size) => {
        const [base, one] = [`/${root.join('/')}`, `/${root.join('/')}/${below.join('/')}`];
        if (!isPlainPath(base)) return;
        for (const { path } of checkedListing({ root: base, files: [file(one, size)] }, base).files)
          expect(join('/cache', path).startsWith(join('/cache', base))).toBe(true);
      }),
    );
  });
});

describe('bytes', () => {
  test.each(['1.jsonl', '1.parquet'])('without an end are counted as they come: %s', async (name) => {
    const { cache } = await mirrored(machine({ root: '/runs', files: [file(`/runs/${name}`, 100)] }, endless));
    expect(sizes(cache)).toBeLessThan(1.1e6);
  });

  test('that end too early are reported', async () => {
    async function* short(_: string, offset: number) {
      if (offset === 0) yield Buffer.from('{"a":1}\n');
    }
    const { problem } = await mirrored(machine({ root: '/runs', files: [file('/runs/1.jsonl', 100)] }, short));
    expect(problem).toBe('/runs/1.jsonl ended after 8 of 100 bytes');
  });
});

describe('a web server', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const one of servers.splice(0)) {
      one.close();
      one.closeAllConnections();
    }
  });
  async function serve(answer: RequestListener, host = '127.0.0.1'): Promise<string> {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return `http://${host}:${(server.address() as AddressInfo).port}`;
  }
  const content = '{"a":1}\n'.repeat(100);
  const fetched = async (name: string, options = {}) => {
    const at = { kind: 'https', name, path: '/1.jsonl' } as const;
    const { cache, problem } = await mirrored(new WebSource(at, options), 50_000, at);
    const path = join(cache, encodeURIComponent(name), '1.jsonl');
    return { problem, text: problem === null ? readFileSync(path, 'utf8') : null, size: sizes(cache) };
  };
  const ranged: (body: (first: number, last: number) => [string, string]) => RequestListener =
    (body) => (request, response) => {
      const [, first, last] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
      const end = last ? Math.min(Number(last), content.length - 1) : content.length - 1;
      const [range, text] = end === 0 ? [`bytes 0-0/${content.length}`, '{'] : body(Number(first), end);
      response.writeHead(206, { 'content-range': range });
      response.end(text);
    };

  test('that is honest is read', async () => {
    const name = await serve(
      ranged((first, last) => [`bytes ${first}-${last}/${content.length}`, content.slice(first, last + 1)]),
    );
    expect(await fetched(name)).toMatchObject({ problem: null, text: content });
  });

  test('whose part is shorter than it says is reported', async () => {
    const name = await serve(
      ranged((first, last) => [`bytes ${first}-${last}/${content.length}`, content.slice(first, first + 5)]),
    );
    expect((await fetched(name)).problem).toContain('fewer than it said');
  });

  test.each([
    [
      'longer than it says',
      ranged((first, last) => [`bytes ${first}-${last}/${content.length}`, content.slice(first) + content]),
    ],
    [
      'another than was asked for',
      ranged((first, last) => [`bytes ${first + 1}-${last}/${content.length}`, content.slice(first)]),
    ],
    ['without its place', ranged((first) => ['', content.slice(first)])],
    [
      'larger than the whole',
      ranged((first, last) => [`bytes ${first}-${last + 800}/${last + 1}`, content.slice(first) + content]),
    ],
  ])('whose part is %s is refused', async (_, answer) => {
    expect((await fetched(await serve(answer))).problem).toMatch(/more bytes than it said|another part/);
  });

  test('whose answer is compressed unasked is refused', async () => {
    const name = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '20' }).end('x'.repeat(20)),
    );
    expect((await fetched(name)).problem).toBe('the answer is compressed (gzip), which was not asked for');
  });

  test('that falls silent is left', async () => {
    const name = await serve((request, response) => {
      response.writeHead(206, { 'content-range': `bytes 0-${request.headers.range === 'bytes=0-0' ? 0 : 99}/100` });
      response.write('{');
      if (request.headers.range === 'bytes=0-0') response.end();
    });
    expect((await fetched(name, { silentMs: 200 })).problem).toContain('no byte came for 0.2 s');
  });

  test('whose body has no end fills no more than the cache may hold', async () => {
    const name = await serve((request, response) => {
      if (request.headers.range === 'bytes=0-0')
        return void response.writeHead(200, { 'content-length': '100' }).end('x'.repeat(100));
      response.writeHead(200);
      const more = () => {
        while (response.write(content));
        response.once('drain', more);
      };
      more();
    });
    const { size } = await fetched(name);
    expect(size).toBeLessThan(60_000);
  });

  test('leads to no address of the user’s own networks, unless it is one', async () => {
    const asked: string[] = [];
    const inner = await serve((request, response) => {
      asked.push(String(request.url));
      response.writeHead(200, { 'content-length': String(content.length) }).end(content);
    }, '127.0.0.2');
    const name = await serve((_, response) => response.writeHead(302, { location: `${inner}/latest/meta-data` }).end());
    const internal = (one: string) => one === '127.0.0.2';
    expect((await fetched(name, { internal })).problem).toContain('it leads to 127.0.0.2');
    expect(asked).toEqual([]);
    expect((await fetched(name)).problem).toBeNull();
    expect(asked).not.toEqual([]);
  });

  test('that leads in circles is left', async () => {
    const name = await serve((_, response) => response.writeHead(302, { location: '/1.jsonl' }).end());
    expect((await fetched(name)).problem).toBe('more than 5 redirects');
  });
});

test.each([
  ...['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'].map((one) => [
    one,
    true,
  ]),
  ...[
    '::1',
    '::',
    'fe80::1%eth0',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '64:ff9b::7f00:1',
    '::127.0.0.1',
  ].map((one) => [one, true]),
  ...['8.8.8.8', '172.32.0.1', '2606:4700::1', '::ffff:8.8.8.8', 'example.org'].map((one) => [one, false]),
] as [string, boolean][])('%s is of the user’s own networks: %s', (address, expected) => {
  expect(isInternal(address)).toBe(expected);
});

test.each([
  ['https://me:s3cret@host/1.jsonl', 'https://…@host/1.jsonl'],
  ['HTTPS://me:s3cret@host/1.jsonl', 'HTTPS://…@host/1.jsonl'],
  ['https://s3cret@host', 'https://…@host'],
  ['https://me:s3@cret@host/1.jsonl:5', 'https://…@host/1.jsonl'],
  ['ssh://me:s3cret@node7/runs', 'ssh://…@node7/runs'],
  ['s3://me:s3cret@bucket/run', 's3://…@bucket/run'],
])('a password in an address is not repeated: %s', (text, shown) => {
  expect(() => remoteName(text)).toThrow(`${shown}: an address with`);
  expect(() => remoteName(text)).not.toThrow('cret');
});
