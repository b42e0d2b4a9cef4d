// The copy of another machine's folder: what is asked for, in which order, and what becomes of it when things go wrong.
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Address } from '../../../src/viewer/remote/address.ts';
import { outputOf, whole } from '../../../src/viewer/remote/child.ts';
import { type Machine, type RemoteFile, SourceError } from '../../../src/viewer/remote/machine.ts';
import { Mirror, type MirrorOptions } from '../../../src/viewer/remote/mirror.ts';
import { REFUSED } from '../../../src/viewer/remote/ssh.ts';

/** A machine in memory. */
class There implements Machine {
  readonly name = 'there';
  readonly files = new Map<string, { bytes: Buffer; modified: number; inode: string }>();
  readonly reads: [string, number][] = [];
  /** Bytes after which the connection is cut, once each. */
  cuts: number[] = [];
  isAway = false;

  put(path: string, text: string | Buffer, modified = 1000, inode = '1'): void {
    this.files.set(path, { bytes: Buffer.from(text), modified, inode });
  }

  async list(): Promise<{ root: string; files: RemoteFile[] }> {
    if (this.isAway) throw new SourceError('no route to host', true);
    const files = [...this.files].map(([path, { bytes, modified, inode }]) => ({
      path,
      size: bytes.length,
      modified,
      inode,
    }));
    return { root: '/runs', files };
  }

  async *read(path: string, offset: number, end: number): AsyncGenerator<Buffer> {
    this.reads.push([path, offset]);
    const bytes = this.files.get(path)!.bytes.subarray(offset, end);
    const cut = this.cuts.shift() ?? bytes.length;
    for (let at = 0; at < Math.min(cut, bytes.length); at += 1000) yield bytes.subarray(at, Math.min(at + 1000, cut));
    if (cut < bytes.length) throw new SourceError('reset', true);
  }

  close(): void {}
}

const address = { kind: 'ssh', name: 'there:', host: 'there', port: null, path: '/runs' } as Address;
const lines = (count: number, word = 'x'): string =>
  Array.from({ length: count }, (_, at) => `{"${word}": ${at}}\n`).join('');

function mirrorOf(source: Machine, options: Partial<MirrorOptions> = {}): Mirror {
  const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
  return new Mirror({ source, address, cache, most: 1e9, follows: false, attempts: 60, ...options });
}

describe('what is there comes here', () => {
  test('the newest step first, only what a dump is made of', async () => {
    const there = new There();
    for (const path of ['train/1.jsonl', 'train/12.jsonl', 'train/3.jsonl', 'checkpoint/model.safetensors', 'log.txt'])
      there.put(`/runs/${path}`, lines(3));
    const root = await mirrorOf(there).open();
    expect(there.reads.map(([path]) => path)).toEqual([
      '/runs/train/12.jsonl',
      '/runs/train/3.jsonl',
      '/runs/train/1.jsonl',
    ]);
    expect(readFileSync(join(root, 'train/12.jsonl'), 'utf8')).toBe(lines(3));
    expect(readdirSync(root)).toEqual(['train']);
  });

  test('again: nothing of what has not changed, of what has grown the end alone', async () => {
    const there = new There();
    there.put('/runs/1.jsonl', lines(2000));
    there.put('/runs/2.jsonl', lines(2000));
    const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
    await mirrorOf(there, { cache }).open();
    there.reads.length = 0;
    there.put('/runs/2.jsonl', lines(2001), 1001);
    const root = await mirrorOf(there, { cache }).open();
    const size = lines(2000).length;
    expect(there.reads).toEqual([['/runs/2.jsonl', size - 4096]]);
    expect(readFileSync(join(root, '2.jsonl'), 'utf8')).toBe(lines(2001));
  });

  test.each([
    ['as long as before', lines(500, 'y')],
    ['shorter', lines(10, 'y')],
    ['longer', lines(900, 'y')],
  ])('a step that was rewritten, %s', async (_, text) => {
    const there = new There();
    there.put('/runs/1.jsonl', lines(500));
    const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
    await mirrorOf(there, { cache }).open();
    there.put('/runs/1.jsonl', text, 2000);
    const root = await mirrorOf(there, { cache }).open();
    expect(readFileSync(join(root, '1.jsonl'), 'utf8')).toBe(text);
  });

  test('through cuts at any byte, without a byte lost or doubled', async () => {
    const there = new There();
    for (const step of [1, 2, 3]) there.put(`/runs/${step}.jsonl`, lines(3000, `s${step}`));
    there.put('/runs/old.parquet', Buffer.alloc(9000, 7));
    there.cuts = Array.from({ length: 50 }, (_, at) => (at * 997) % 9000);
    // The pauses between attempts are the program's own; here only their number counts.
    const root = await mirrorOf(there, { attempts: 60 }).open();
    for (const [path, { bytes }] of there.files)
      expect(readFileSync(join(root, path.slice('/runs/'.length))).equals(bytes)).toBe(true);
  });

  test('a file that is no lines is there whole or not at all', async () => {
    const there = new There();
    there.put('/runs/1.parquet', Buffer.alloc(5000, 7));
    // The second time nothing comes at all.
    there.cuts = [2000, 0];
    const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
    await expect(mirrorOf(there, { cache, attempts: 1 }).open()).rejects.toThrow('reset');
    const path = join(cache, 'there%3A/runs/1.parquet');
    expect(readFileSync(path, 'utf8')).toContain('rollout_viewer_pending');
    there.reads.length = 0;
    await mirrorOf(there, { cache }).open();
    expect(there.reads).toEqual([['/runs/1.parquet', 0]]);
    expect(statSync(path).size).toBe(5000);
  });
});

describe('what does not fit', () => {
  test('the oldest steps stay there, as rows that say so', async () => {
    const there = new There();
    for (const step of [1, 2, 3, 4]) there.put(`/runs/${step}.jsonl`, lines(1000), 1000 + step);
    const size = lines(1000).length;
    const root = await mirrorOf(there, { most: size * 2.5 }).open();
    expect([3, 4].map((step) => statSync(join(root, `${step}.jsonl`)).size)).toEqual([size, size]);
    for (const step of [1, 2])
      expect(JSON.parse(readFileSync(join(root, `${step}.jsonl`), 'utf8'))).toEqual({
        rollout_viewer_pending: expect.stringContaining('--cache-size'),
      });
  });

  test('a newer step pushes the oldest out', async () => {
    const there = new There();
    there.put('/runs/1.jsonl', lines(1000), 1001);
    there.put('/runs/2.jsonl', lines(1000), 1002);
    const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
    const most = lines(1000).length * 2.2;
    await mirrorOf(there, { cache, most }).open();
    there.put('/runs/3.jsonl', lines(1000), 1003);
    const root = await mirrorOf(there, { cache, most }).open();
    expect(readFileSync(join(root, '3.jsonl'), 'utf8')).toBe(lines(1000));
    expect(readFileSync(join(root, '2.jsonl'), 'utf8')).toBe(lines(1000));
    expect(readFileSync(join(root, '1.jsonl'), 'utf8')).toContain('rollout_viewer_pending');
  });
});

test('without a connection the cached part is opened, and the connection is reported', async () => {
  const there = new There();
  there.put('/runs/1.jsonl', lines(10));
  const cache = mkdtempSync(join(tmpdir(), 'rollout-viewer-cache-'));
  await mirrorOf(there, { cache }).open();
  there.isAway = true;
  await expect(mirrorOf(there, { cache, attempts: 1 }).open()).rejects.toThrow('no route to host');
  const mirror = mirrorOf(there, { cache, follows: true, attempts: Number.POSITIVE_INFINITY });
  const root = await mirror.open();
  expect(readFileSync(join(root, '1.jsonl'), 'utf8')).toBe(lines(10));
  expect(mirror.status).toMatch(/connection lost \(no route to host\)/);
  mirror.close();
});

test('a machine that was never reached, with nothing cached, is given up even when following', async () => {
  const there = new There();
  there.isAway = true;
  await expect(mirrorOf(there, { follows: true, attempts: 2 }).open()).rejects.toThrow('no route to host');
});

test('a copy has the time of its source as soon as it is whole', async () => {
  const there = new There();
  there.put('/runs/1.jsonl', lines(2000), 123_456);
  const root = await mirrorOf(there).open();
  expect(statSync(join(root, '1.jsonl')).mtimeMs).toBe(123_456_000);
});

test.each([
  ['me@there: Permission denied (publickey,password).', false],
  ['Host key verification failed.', false],
  ['ssh: connect to host there port 22: Connection refused', true],
])('%s: asking again is of use: %s', async (says, isLost) => {
  const rules = { lost: [255], refused: REFUSED };
  const asked = whole(outputOf('sh', ['-c', `echo "${says}" >&2; exit 255`], rules, new AbortController().signal));
  await expect(asked).rejects.toMatchObject({ message: says, isLost });
});
