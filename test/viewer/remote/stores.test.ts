// Dumps on object stores, held to what the same files say on a disk: signed requests, versions, pages, faults.
import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { doubtsOf, doubtsText } from '../../../src/analysis/doubts.ts';
import { readFactRows } from '../../../src/analysis/facts/fact-rows.ts';
import { LiveRun } from '../../../src/analysis/live-run.ts';
import { compileQuery } from '../../../src/analysis/query/query.ts';
import { summarise } from '../../../src/analysis/summary.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { noteOrigin, originOf } from '../../../src/core/dump/origins.ts';
import { pathIdentity, shownPath } from '../../../src/core/text/shown-path.ts';
import { HfStore } from '../../../src/viewer/remote/stores/hf.ts';
import { ObjectSource } from '../../../src/viewer/remote/stores/object-source.ts';
import { WebClient } from '../../../src/viewer/remote/web-client.ts';
import { directoryWith, verlLine } from '../../program.ts';
import { type Asked, type Fault, type ObjectServer, objectOf, SECRET } from '../../support/object-server.ts';
import { bucketOf, closeAll, contentOf, mirrorOf, newCache, problemOf, servers } from './mirrored.ts';

afterEach(closeAll);

const isPending = (text: string | undefined): boolean => text?.startsWith('{"rollout_viewer_pending"') === true;
const gets = ({ asked }: ObjectServer): Asked[] => asked.filter(({ kind }) => kind === 'get');
const until = async (holds: () => boolean): Promise<void> => {
  await vi.waitFor(() => expect(holds()).toBe(true), { timeout: 120_000, interval: 5 });
};

function fail(): never {
  throw new Error('no such file');
}

/** The words of a row for a file that is not here; null for any other. */
async function saidAt(root: string, name: string): Promise<string | null> {
  const dump = Dump.open([root]);
  await dump.start();
  const file = dump.files.find(({ path }) => path === join(root, name));
  const said = file?.isAway === true ? file.read(0).error : null;
  dump.close();
  return said;
}

/** The first object is cut off, and no other byte comes. */
function cutOnce(after: number): (asked: Asked) => Fault | null {
  let count = 0;
  return ({ kind }) => (kind === 'get' ? { kind: 'cut', after: count++ === 0 ? after : 0 } : null);
}

describe('a bucket', () => {
  test('its objects come in pages, signed; one object, a folder, all of it', async () => {
    const files = { 'run/1.jsonl': verlLine(), 'run/2.jsonl': verlLine({ step: 2 }), 'run2/1.jsonl': verlLine() };
    const server = await bucketOf({ ...files, 'run/notes.txt': 'no dump', 'run/': '' }, { page: 1 });
    expect(contentOf(await mirrorOf('s3://bucket').open())).toEqual(files);
    server.asked.length = 0;
    expect(Object.keys(contentOf(await mirrorOf('s3://bucket/run').open()))).toEqual(['1.jsonl', '2.jsonl']);
    expect(gets(server).map(({ key }) => key)).toEqual(['run/2.jsonl', 'run/1.jsonl']);
    expect(readFileSync(await mirrorOf('s3://bucket/run/1.jsonl').open(), 'utf8')).toBe(verlLine());
    expect(await problemOf(mirrorOf('s3://bucket/nothing'))).toMatch(/no such object/);
  });

  test('a name of any characters is signed as the store reads it', async () => {
    const part = fc
      .string({ unit: fc.constantFrom(...'ab +%?#&=é漢!\'()*"<>;:@,$~[]|^`{}'), minLength: 1, maxLength: 12 })
      .filter((text) => !text.startsWith('.'));
    const server = await bucketOf({});
    await fc.assert(
      fc.asyncProperty(part, part, async (folder, name) => {
        server.put(`${folder}/${name}.jsonl`, objectOf(verlLine()));
        const root = await mirrorOf(`s3://bucket`).open();
        expect(contentOf(root)[`${folder}/${name}.jsonl`]).toBe(verlLine());
        server.remove(`${folder}/${name}.jsonl`);
      }),
      { numRuns: 25 },
    );
  });

  test('keys whose names are empty or look like that are separate files, shown by their keys', async () => {
    const part = fc.constantFrom('', '%2F', '%252F', 'a', '%2f');
    const key = fc.array(part, { maxLength: 4 }).map((parts) => [...parts, '1.jsonl'].join('/'));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(key, { minLength: 1, maxLength: 6 }), async (keys) => {
        const files = Object.fromEntries(keys.map((one) => [one, verlLine({ output: one })]));
        const server = await bucketOf(files);
        const cache = join(newCache(), 'rollout-viewer/remote');
        const root = await mirrorOf('s3://bucket', { cache }).open();
        const shown = Object.entries(contentOf(root)).map(([path, text]) => [shownPath(join(root, path)), text]);
        expect(shown.sort()).toEqual(
          Object.entries(files)
            .map(([one, text]) => [`s3://bucket/${one}`, text])
            .sort(),
        );
        for (const one of keys)
          expect(readFileSync(await mirrorOf(`s3://bucket/${one}`, { cache }).open(), 'utf8')).toBe(files[one]);
        server.close();
      }),
      { numRuns: 10 },
    );
  });

  test('a bucket of the same name at another endpoint is another one, in the cache and for results', async () => {
    const cache = join(newCache(), 'rollout-viewer/remote');
    const roots: string[] = [];
    for (const output of ['here', 'there']) {
      await bucketOf({ '1.jsonl': verlLine({ output }) });
      roots.push(await mirrorOf('s3://bucket', { cache }).open());
    }
    expect(roots.map((root) => contentOf(root)['1.jsonl'])).toEqual(
      ['here', 'there'].map((output) => verlLine({ output })),
    );
    expect(roots.map(shownPath)).toEqual(['s3://bucket/', 's3://bucket/']);
    expect(new Set(roots.map(pathIdentity)).size).toBe(2);
  });

  test('an object of a store that names no versions is read again when its time changes', async () => {
    const at = (text: string, ms: number) => ({ ...objectOf(text, new Date(ms)), etag: '' });
    const server = await bucketOf({});
    const cache = newCache();
    server.put('1.jsonl', at(verlLine({ output: 'a' }), 1_700_000_000_000));
    await mirrorOf('s3://bucket', { cache }).open();
    server.put('1.jsonl', at(verlLine({ output: 'b' }), 1_700_000_001_000));
    expect(contentOf(await mirrorOf('s3://bucket', { cache }).open())).toEqual({
      '1.jsonl': verlLine({ output: 'b' }),
    });
  });

  test('what has not changed is not read again; what was replaced, whole; what is gone, is gone', async () => {
    const server = await bucketOf({ '1.jsonl': verlLine().repeat(3), '2.jsonl': verlLine({ step: 2 }) });
    const cache = newCache();
    await mirrorOf('s3://bucket', { cache }).open();
    server.asked.length = 0;
    await mirrorOf('s3://bucket', { cache }).open();
    expect(gets(server)).toEqual([]);
    // As long as before, written at the same second.
    server.put('1.jsonl', objectOf(verlLine({ output: '3' }).repeat(3)));
    server.remove('2.jsonl');
    const root = await mirrorOf('s3://bucket', { cache }).open();
    expect(contentOf(root)).toEqual({ '1.jsonl': verlLine({ output: '3' }).repeat(3) });
    expect(gets(server)).toMatchObject([{ key: '1.jsonl', range: `bytes=0-${verlLine().length * 3 - 1}` }]);
  });

  test('of an object that was cut off, the rest alone is asked for, also by another session', async () => {
    const text = verlLine().repeat(1000);
    const server = await bucketOf({ '1.jsonl': text });
    const cache = newCache();
    server.fault = cutOnce(5000);
    expect(await problemOf(mirrorOf('s3://bucket', { cache, attempts: 1 }))).not.toBeNull();
    server.fault = () => null;
    server.asked.length = 0;
    expect(contentOf(await mirrorOf('s3://bucket', { cache }).open())).toEqual({ '1.jsonl': text });
    const [first] = gets(server);
    expect(Number(/\d+/.exec(first?.range ?? '')?.[0])).toBeGreaterThan(0);
  });
});

describe('what goes wrong', () => {
  const lines = (word: string): string => verlLine({ output: word }).repeat(2000);

  test.each<[string, Fault | null, Fault | null]>([
    ['after the list', null, null],
    ['after the list, and the store does not look at If-Match', { kind: 'forgetful' }, null],
    ['in the middle', { kind: 'cut', after: 100_000 }, null],
    ['in the middle, and the store does not look at If-Match', { kind: 'cut', after: 100_000 }, { kind: 'forgetful' }],
  ])('an object is replaced %s: never a mix of both', async (_, first, later) => {
    const server = await bucketOf({ '1.jsonl': lines('a') });
    let count = 0;
    server.fault = ({ kind }) => {
      if (kind === 'list') return null;
      if (count++ > 0) return later;
      const replace = () => server.put('1.jsonl', objectOf(lines('b')));
      if (first?.kind === 'cut') setImmediate(replace);
      else replace();
      return first;
    };
    const mirror = mirrorOf('s3://bucket');
    const said: (string | null)[] = [];
    mirror.onStatus(() => said.push(mirror.status));
    expect(contentOf(await mirror.open())).toEqual({ '1.jsonl': lines('b') });
    if (first?.kind !== 'cut') expect(said).toContain('/1.jsonl was replaced while it was read: read again');
  });

  test.each([
    ['RequestTimeTooSkewed', 3 * 3_600_000, /the clock of this machine is 180 minutes behind the server's/],
    ['RequestTimeTooSkewed', -20 * 60_000, /the clock of this machine is 20 minutes ahead of the server's/],
  ])('%s: a clock that is off is said', async (code, aheadMs, says) => {
    await bucketOf({ '1.jsonl': verlLine() }, { aheadMs });
    const problem = await problemOf(mirrorOf('s3://bucket'));
    expect(problem).toMatch(says);
    expect(problem).toContain(code);
  });

  test.each([
    [{ AWS_SECRET_ACCESS_KEY: 'another' }, '403 SignatureDoesNotMatch: the secret does not belong to the key'],
    [{ AWS_ACCESS_KEY_ID: 'AKOTHER' }, '403 InvalidAccessKeyId: the store does not know the key'],
    [{ AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }, '403 AccessDenied: no keys were found'],
  ])('keys %o are refused at once, in words without them', async (env, says) => {
    const server = await bucketOf({ '1.jsonl': verlLine() });
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    expect(await problemOf(mirrorOf('s3://bucket'))).toBe(says);
    expect(server.asked.length).toBeLessThanOrEqual(2);
  });

  test('a bucket that is open to all needs no keys', async () => {
    await bucketOf({ '1.jsonl': verlLine() }, { isOpen: true });
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, '');
    expect(Object.keys(contentOf(await mirrorOf('s3://bucket').open()))).toEqual(['1.jsonl']);
  });

  test('an object that may not be read is a row that says so; the others come', async () => {
    const server = await bucketOf({ '1.jsonl': verlLine(), '2.jsonl': verlLine(), '3.jsonl': verlLine() });
    server.fault = ({ key }) => (key === '2.jsonl' ? { kind: 'refuse', status: 403, code: 'AccessDenied' } : null);
    const said: (string | null)[] = [];
    const mirror = mirrorOf('s3://bucket');
    mirror.onStatus(() => said.push(mirror.status));
    const found = contentOf(await mirror.open());
    expect(found['2.jsonl']).toContain('not here: 403 AccessDenied');
    expect([found['1.jsonl'], found['3.jsonl']]).toEqual([verlLine(), verlLine()]);
    expect(said.at(-1)).toBe('1 of 3 files are refused: /2.jsonl: 403 AccessDenied: these keys may not read it');
  });

  test('an object that is refused in its middle is a row that says so, without its first lines', async () => {
    const server = await bucketOf({ '1.jsonl': verlLine().repeat(2000), '2.jsonl': verlLine() });
    let count = 0;
    server.fault = ({ key }) => {
      if (key !== '1.jsonl') return null;
      return count++ === 0 ? { kind: 'cut', after: 50_000 } : { kind: 'refuse', status: 403, code: 'ExpiredToken' };
    };
    const found = contentOf(await mirrorOf('s3://bucket').open());
    expect(found['1.jsonl']).toMatch(/^\{"rollout_viewer_pending": "not here: 403 ExpiredToken: [^\n]*\n$/);
    expect(found['2.jsonl']).toBe(verlLine());
  });

  test('a bucket in another region is asked there', async () => {
    const server = await bucketOf({ '1.jsonl': verlLine() });
    server.fault = () => ({ kind: 'elsewhere', region: 'ap-south-1' });
    await mirrorOf('s3://bucket').open();
    expect(server.asked.map(({ region }) => region)).toEqual(['eu-central-1', 'ap-south-1', 'ap-south-1']);
  });

  test('a store that is busy is asked again, a list page from where it was', async () => {
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, step) => [`${step}.jsonl`, verlLine({ step })]));
    const server = await bucketOf(files, { page: 3 });
    let count = 0;
    server.fault = () => (++count % 3 === 2 ? { kind: 'refuse', status: 503, code: 'SlowDown' } : null);
    expect(contentOf(await mirrorOf('s3://bucket').open())).toEqual(files);
    expect(server.asked.filter(({ kind }) => kind === 'list').length).toBeLessThanOrEqual(6);
  });

  test('a part that is shorter than it was asked for is no whole object', async () => {
    const server = await bucketOf({ '1.parquet': 'x'.repeat(5000) });
    let count = 0;
    server.fault = ({ kind }) => (kind === 'get' && count++ < 3 ? { kind: 'short', bytes: 1000 } : null);
    expect(contentOf(await mirrorOf('s3://bucket').open())).toEqual({ '1.parquet': 'x'.repeat(5000) });
  });

  test.each(['s3', 'gs'])('a page of a proxy never becomes a part of an object: %s', async (scheme) => {
    const content = Buffer.from(Array.from({ length: 200_000 }, (_, i) => 97 + (i % 7)));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('1.parquet', '1.jsonl'),
        fc.nat({ max: 100_000 }),
        fc.array(fc.nat({ max: 250_000 }), { minLength: 1, maxLength: 2 }),
        async (key, after, pages) => {
          const server = await bucketOf({ [key]: content }, { isOpen: true });
          vi.stubEnv('STORAGE_EMULATOR_HOST', server.url);
          vi.stubEnv('GOOGLE_OAUTH_ACCESS_TOKEN', 'x');
          const faults: Fault[] = [
            { kind: 'cut', after },
            ...pages.map((length): Fault => ({ kind: 'page', text: '<'.repeat(length) })),
          ];
          server.fault = ({ kind }) => (kind === 'get' ? (faults.shift() ?? null) : null);
          const mirror = mirrorOf(`${scheme}://bucket`);
          const said: string[] = [];
          mirror.onStatus(() => said.push(mirror.status ?? ''));
          expect(contentOf(await mirror.open())).toEqual({ [key]: content.toString() });
          expect(said.join()).toContain(`the answer is not /${key}; something on the way`);
          server.close();
        },
      ),
      { numRuns: 8 },
    );
  });

  test('a list of empty pages ends', async () => {
    const server = await bucketOf({});
    let count = 0;
    server.fault = () => ({
      kind: 'page',
      text: `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${count++}</NextContinuationToken></ListBucketResult>`,
    });
    expect(await problemOf(mirrorOf('s3://bucket'))).toBe('the list of objects does not continue');
    expect(count).toBeLessThan(1000);
  });

  test('names that lead out of the cache, or are both a folder and an object, do no harm', async () => {
    await bucketOf({
      '../../x.jsonl': 'evil',
      'a/./b.jsonl': 'evil',
      'a.jsonl': verlLine(),
      'a.jsonl/1.jsonl': verlLine(),
    });
    const found = contentOf(await mirrorOf('s3://bucket').open());
    expect(Object.keys(found)).toEqual(['a.jsonl/1.jsonl']);
  });

  test('a disk that is full ends it with a word, and leaves nothing false', async () => {
    const content = 'x'.repeat(20_000);
    const server = await bucketOf({ '1.parquet': content });
    const cache = newCache();
    server.fault = cutOnce(5000);
    expect(await problemOf(mirrorOf('s3://bucket', { cache, attempts: 1 }))).not.toBeNull();
    server.fault = () => null;
    const [folder = ''] = readdirSync(cache);
    const part = join(cache, folder, '.1.parquet.part');
    rmSync(part);
    symlinkSync('/dev/full', part);
    expect(await problemOf(mirrorOf('s3://bucket', { cache }))).toMatch(/no room left for copies in .*; free some/);
    rmSync(part);
    expect(contentOf(await mirrorOf('s3://bucket', { cache }).open())).toEqual({ '1.parquet': content });
  });

  test('neither keys nor tokens are in what the cache holds', async () => {
    await bucketOf({ '1.jsonl': verlLine() });
    vi.stubEnv('AWS_SESSION_TOKEN', 'a-session-token');
    const cache = newCache();
    await mirrorOf('s3://bucket', { cache }).open();
    const names = readdirSync(cache, { recursive: true, withFileTypes: true });
    for (const entry of names) {
      const all = entry.isFile()
        ? `${entry.name}${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`
        : entry.name;
      expect(all).not.toContain(SECRET);
      expect(all).not.toContain('a-session-token');
    }
  });
});

describe('what is looked at', () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, step) => [`train/${step}.jsonl`, verlLine({ step }).repeat(50)]),
  );

  test('comes; the newest step by itself; of all others the names alone', async () => {
    const server = await bucketOf({ ...files, 'val/39.jsonl': verlLine({ step: 39 }) });
    const mirror = mirrorOf('s3://bucket', { follows: true, brings: 'looked-at' });
    const root = await mirror.open();
    await until(() => mirror.status?.startsWith('2 of 41 files here') === true);
    expect(gets(server).map(({ key }) => key)).toEqual(['train/39.jsonl', 'val/39.jsonl']);
    expect(Object.keys(contentOf(root))).toEqual(['train/39.jsonl', 'val/39.jsonl']);
    expect(await saidAt(root, 'train/7.jsonl')).toBe('not here yet: 0.1 MB at s3://bucket');
    originOf(join(root, 'train/7.jsonl'))?.look?.();
    await until(() => mirror.status?.startsWith('3 of 41 files here') === true);
    expect(contentOf(root)['train/7.jsonl']).toBe(files['train/7.jsonl']);
    expect(gets(server)).toHaveLength(3);
    expect(mirror.status).toMatch(/, \d+(\.\d)? MB read$/);
  });

  test('rows of what is not here come and go with the list, and are read where they lie', async () => {
    const server = await bucketOf(files);
    const root = await mirrorOf('s3://bucket', { follows: true, brings: 'looked-at' }).open();
    const dump = Dump.open([root]);
    await dump.start();
    const whole = dump.files.map((file) => [file.locator(0), file.isAway, file.read(0).line]);
    expect(whole).toEqual(Array.from({ length: 40 }, (_, step) => [join(root, `train/${step}.jsonl:1`), step < 39, 1]));
    const rows = await readFactRows(dump, compileQuery('finding:not_here'));
    expect(rows.length).toBe(39);
    await dump.lookAt(dump.files[3] ?? fail(), [0], true);
    expect(dump.files[3]?.details(0)).not.toBeNull();
    server.remove('train/5.jsonl');
    server.put('train/6.jsonl', objectOf(verlLine({ step: 6 }).repeat(5000)));
    await until(() => {
      dump.rescan();
      return dump.files.length === 39;
    });
    expect(await saidAt(root, 'train/5.jsonl')).toBe(null);
    const grown = dump.files.find(({ path }) => path.endsWith('/6.jsonl')) ?? fail();
    await dump.refresh(grown);
    expect([grown.isAway, grown.read(0).error]).toEqual([true, expect.stringMatching(/not here yet: 0\.[5-9] MB/)]);
    originOf(grown.path)?.look?.();
    await vi.waitFor(
      async () => {
        await dump.refresh(grown);
        expect([grown.isAway, grown.count]).toEqual([false, 5000]);
      },
      { timeout: 120_000, interval: 50 },
    );
    dump.close();
  });

  test('a file that is not here is a row of the dump, which says so', async () => {
    const folder = directoryWith({
      '1.jsonl': '{"rollout_viewer_pending": "not here yet: 10 MB at s3://b"}\n',
      '2.jsonl': verlLine(),
    });
    const dump = Dump.open([folder]);
    await dump.start();
    expect(dump.files.map(({ count }) => count)).toEqual([1, 1]);
    const [away, here] = dump.files;
    expect(away?.read(0).error).toContain('not here yet: 10 MB at s3://b');
    // It is no bad record, and nothing is known of it; no thread was asked.
    expect([away?.facts(0)?.findings, away?.facts(0)?.value('turns')]).toEqual([['not_here'], null]);
    noteOrigin(away?.path ?? '', { modified: 0, known: 10_000_000 });
    expect([away?.sizeOf(0), here?.sizeOf(0)]).toEqual([10_000_000, verlLine().length - 1]);
    const facts = await readFactRows(dump, null);
    const { rollouts, bad, findings } = summarise(facts, [0, 1]);
    expect([rollouts, bad, findings.has('not_here')]).toEqual([1, 0, false]);
    expect(doubtsText(doubtsOf(facts))).toBe('2 rollouts; left out: 1 not here');
    expect(new LiveRun(dump).stats(null)).toMatchObject({ steps: 2, rollouts: 1 });
    dump.close();
  });

  test('a copy of an older version is no copy', async () => {
    const server = await bucketOf(files);
    const cache = newCache();
    await mirrorOf('s3://bucket', { cache }).open();
    server.put('train/7.jsonl', objectOf(verlLine({ step: 7, output: 'new' }).repeat(50)));
    const mirror = mirrorOf('s3://bucket', { cache, follows: true, brings: 'looked-at' });
    const root = await mirror.open();
    await until(() => mirror.status !== null);
    expect(isPending(contentOf(root)['train/7.jsonl'])).toBe(true);
    expect(contentOf(root)['train/8.jsonl']).toBe(files['train/8.jsonl']);
  });
});

describe('Google and the Hub', () => {
  async function served(answer: Parameters<typeof createServer>[1]): Promise<string> {
    const server: Server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push({
      close: () => {
        server.close();
        server.closeAllConnections();
      },
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  test('a bucket of Google opens by a token, made by the key of a service account', async () => {
    const server = await bucketOf({ 'run/1.jsonl': verlLine() }, { isOpen: true });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    let asked = '';
    const tokens = await served((request, response) => {
      request.on('data', (chunk) => {
        asked += chunk;
      });
      request.on('end', () => response.end(JSON.stringify({ access_token: 'ya29.x', expires_in: 3600 })));
    });
    const folder = directoryWith({
      'key.json': JSON.stringify({
        type: 'service_account',
        client_email: 'me@project',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        token_uri: tokens,
      }),
    });
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'key.json'));
    vi.stubEnv('STORAGE_EMULATOR_HOST', server.url);
    expect(contentOf(await mirrorOf('gs://bucket/run').open())).toEqual({ '1.jsonl': verlLine() });
    const [, claims = ''] = new URLSearchParams(asked).get('assertion')?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ iss: 'me@project', aud: tokens });
    // As Google answers to a signed time that is not its own.
    let aheadMs = 0;
    const refusals = await served((_, response) => {
      response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
      response
        .writeHead(400)
        .end('{"error":"invalid_grant","error_description":"Invalid JWT: Token must be a short-lived token"}');
    });
    const key = readFileSync(join(folder, 'key.json'), 'utf8');
    writeFileSync(join(folder, 'key.json'), key.replace(tokens, refusals));
    for (const [minutes, says] of [
      [180, "the clock of this machine is 180 minutes behind the server's"],
      [-20, "the clock of this machine is 20 minutes ahead of the server's"],
      [1, 'gives no token (400): gcloud auth application-default login'],
    ] as const) {
      aheadMs = minutes * 60_000;
      expect(await problemOf(mirrorOf('gs://bucket/run'))).toContain(says);
    }
    writeFileSync(join(folder, 'key.json'), '{"type":"external_account"}');
    expect(await problemOf(mirrorOf('gs://bucket/run'))).toMatch(/credentials of another kind/);
  });

  test('a data set of the Hub opens by its commit; the token stays with the Hub', async () => {
    const sha = 'a'.repeat(40);
    const elsewhere: (string | undefined)[] = [];
    const content = verlLine().repeat(100);
    const store = await served((request, response) => {
      elsewhere.push(request.headers.authorization);
      const [, from = '0', to = ''] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${content.length}` });
      response.end(content.slice(Number(from), Number(to) + 1));
    });
    let leadsTo = store;
    const hub = await served((request, response) => {
      const path = request.url ?? '';
      if (request.headers.authorization !== 'Bearer hf_token') response.writeHead(401).end();
      else if (path === '/api/datasets/org/set/revision/main') response.end(JSON.stringify({ sha }));
      else if (path === `/api/datasets/org/set/tree/${sha}/run?recursive=true`) {
        response.setHeader('link', `<${hub}/api/datasets/org/set/tree/${sha}/run?recursive=true&cursor=2>; rel="next"`);
        response.end(JSON.stringify([{ type: 'directory', path: 'run/a', size: 0, oid: 'x' }]));
      } else if (path.endsWith('cursor=2'))
        response.end(JSON.stringify([{ type: 'file', path: 'run/1.jsonl', size: content.length, oid: 'b1' }]));
      else if (path === `/datasets/org/set/resolve/${sha}/run/1.jsonl`)
        response.writeHead(302, { location: `${leadsTo}/signed` }).end();
      else response.writeHead(404).end();
    });
    vi.stubEnv('HF_ENDPOINT', hub);
    vi.stubEnv('HF_TOKEN', 'hf_token');
    expect(contentOf(await mirrorOf('hf://datasets/org/set/run').open())).toEqual({ '1.jsonl': content });
    expect(elsewhere).toEqual([undefined]);
    const guarded = new WebClient({ internal: () => false });
    const outside = new WebClient({ internal: (ip) => ip === '127.0.0.2' });
    for (const [client, target, says] of [
      [guarded, store, null],
      [outside, store.replace('127.0.0.1', '127.0.0.2'), 'an address of this machine or its networks; not followed'],
    ] as const) {
      leadsTo = target;
      const source = new ObjectSource(new HfStore('org/set', client));
      const { files } = await source.list('/run', AbortSignal.timeout(20_000));
      const read = async () => {
        for await (const _ of source.read('/run/1.jsonl', 0, 10, AbortSignal.timeout(20_000), files[0]?.version)) break;
      };
      if (says === null) await read();
      else await expect(read()).rejects.toThrow(says);
      source.close();
    }
    vi.stubEnv('HF_TOKEN', 'hf_other');
    expect(await problemOf(mirrorOf('hf://datasets/org/set/run'))).toBe(
      'the server answered 401: this token may not read it',
    );
  });
});
