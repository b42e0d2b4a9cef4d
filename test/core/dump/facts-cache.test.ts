import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readFactRows } from '../../../src/analysis/facts/fact-rows.ts';
import { Dump } from '../../../src/core/dump/dump.ts';

const base = mkdtempSync(join(tmpdir(), 'facts-cache-'));
let folder: string;
let dumpFile: string;
let cache: string;
afterAll(() => rmSync(base, { recursive: true }));

const line = (at: number) =>
  `${JSON.stringify({ input: `user\nq${at % 3}\nassistant\n`, output: `It is ${at}.`, gts: '5', score: at % 2, step: 1, acc: at / 7, kind: `k${at % 4}` })}\n`;
const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i)).join('');

let made = 0;
beforeEach(() => {
  folder = join(base, String(made++));
  cache = join(folder, 'state', 'facts');
  dumpFile = join(folder, 'dump', '1.jsonl');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'dump'), { recursive: true });
  writeFileSync(dumpFile, lines(0, 20));
});

/** The findings of a look at the dump, and how many records it knew before it read any. */
async function look(): Promise<{ rows: unknown; known: number; notices: string[] }> {
  const dump = Dump.open([join(folder, 'dump')], { facts: cache });
  for (const file of dump.files) await dump.index(file);
  const known = dump.files.reduce((sum, { index }) => sum + index.looked, 0);
  const rows = await readFactRows(dump, null);
  const found = {
    scores: [...rows.numbers('score')],
    acc: [...rows.numbers('acc')],
    kind: rows.words('kind'),
    chars: [...rows.numbers('chars')],
    ended: rows.words('ended'),
    groups: [...rows.groups],
    places: dump.files.flatMap(({ index }) =>
      Array.from({ length: index.count }, (_, at) => [index.offset(at), index.length(at), index.line(at)]),
    ),
  };
  dump.close();
  return { rows: found, known, notices: dump.notices };
}

const fresh = async () => {
  rmSync(cache, { recursive: true, force: true });
  return (await look()).rows;
};
const kept = () => join(cache, readdirSync(cache)[0]!);

describe('facts that were kept', () => {
  test('are what a reading finds, and spare it', async () => {
    const first = await look();
    expect(first.known).toBe(0);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    expect(statSync(kept()).mode & 0o777).toBe(0o600);
    const second = await look();
    expect(second).toEqual({ ...first, known: 20 });
  });

  test('are added to where the file grew, also where its last line had no end', async () => {
    writeFileSync(dumpFile, lines(0, 9).trimEnd());
    await look();
    appendFileSync(dumpFile, `\n\n${lines(9, 30)}`);
    const grown = await look();
    expect(grown.known).toBe(8);
    expect(grown.rows).toEqual(await fresh());
  });

  test('are dropped, and said to be, where the file was cut or rewritten', async () => {
    await look();
    writeFileSync(dumpFile, lines(100, 110));
    const cut = await look();
    expect([cut.known, cut.notices.length]).toEqual([0, 1]);
    expect(cut.notices[0]).toContain('rewritten');
    expect(cut.rows).toEqual(await fresh());
    // The same length, and another digit.
    await look();
    writeFileSync(dumpFile, lines(100, 110).replaceAll('"score":1', '"score":3'));
    utimesSync(dumpFile, new Date(), new Date(Date.now() + 5000));
    expect((await look()).rows).toEqual(await fresh());
    // Nor does it help that its time is set back.
    const { atime, mtime } = statSync(dumpFile);
    await look();
    writeFileSync(dumpFile, lines(100, 110).replaceAll('"score":1', '"score":4'));
    utimesSync(dumpFile, atime, mtime);
    expect((await look()).rows).toEqual(await fresh());
  });

  test('are worth nothing where anything is wrong with them', async () => {
    const wanted = (await look()).rows;
    const whole = readFileSync(kept());
    const damages: ((path: string) => void)[] = [
      (path) => truncateSync(path, 20),
      (path) => truncateSync(path, whole.length - 9),
      (path) => truncateSync(path, 0),
      (path) => writeFileSync(path, 'something else'),
      (path) => chmodSync(path, 0o666),
      (path) => {
        unlinkSync(path);
        writeFileSync(join(folder, 'elsewhere'), whole, { mode: 0o600 });
        symlinkSync(join(folder, 'elsewhere'), path);
      },
    ];
    for (const at of [0, 41, whole.length >> 1, whole.length - 1])
      damages.push((path) => {
        const bytes = Buffer.from(whole);
        bytes[at] = bytes[at]! ^ 0x55;
        writeFileSync(path, bytes);
      });
    for (const damage of damages) {
      const path = kept();
      damage(path);
      const { rows, known } = await look();
      expect(known).toBe(0);
      expect(rows).toEqual(wanted);
      rmSync(path, { force: true });
      writeFileSync(path, whole, { mode: 0o600 });
      chmodSync(path, 0o600);
    }
    expect((await look()).known).toBe(20);
  });

  test.each([
    [
      'another version of the program',
      { version: (own: string) => own.replace(/^./, (one) => (one === '0' ? '1' : '0')) },
    ],
    ['another machine, whose file has another device', { device: (own: number) => own + 1 }],
    ['another machine, whose file has another inode', { inode: (own: number) => own + 1 }],
  ])(
    'are worth nothing from %s, however whole they are',
    async (_, change: Record<string, (own: never) => unknown>) => {
      const wanted = (await look()).rows;
      const bytes = readFileSync(kept());
      const start = bytes.indexOf('{"');
      const length = bytes.readUInt32LE(start - 4);
      const header = JSON.parse(bytes.toString('utf8', start, start + length));
      for (const [key, made] of Object.entries(change)) {
        const owner = key === 'version' ? header : header.file;
        owner[key] = made(owner[key] as never);
      }
      const text = Buffer.from(JSON.stringify(header));
      const body = bytes.subarray((start + length + 7) & ~7);
      const head = Buffer.alloc(4);
      head.writeUInt32LE(text.length);
      const gap = Buffer.alloc(((start + text.length + 7) & ~7) - start - text.length);
      const rest = Buffer.concat([head, text, gap, body]);
      const digest = createHash('sha256').update(rest).digest();
      writeFileSync(kept(), Buffer.concat([bytes.subarray(0, start - 4 - digest.length), digest, rest]));
      const { rows, known } = await look();
      expect(known).toBe(0);
      expect(rows).toEqual(wanted);
    },
  );

  test('are not those of a file that is read in another way', async () => {
    await look();
    const dump = Dump.open([join(folder, 'dump')], { facts: cache, reading: { chatTemplate: 'plain' } });
    await dump.index(dump.files[0]!);
    expect(dump.files[0]!.index.looked).toBe(0);
    dump.close();
  });
});

describe('answers that were kept', () => {
  /** The answer to a question, and whether it had to be worked out. */
  async function ask(question: string, options = {}): Promise<{ answer: unknown; isNew: boolean }> {
    const dump = Dump.open([join(folder, 'dump')], { facts: cache, ...options });
    const rows = await readFactRows(dump, null);
    let isNew = false;
    const answer = await rows.remember(question, async () => {
      isNew = true;
      return { rows: rows.length, scores: rows.numbers('score'), none: Number.NaN };
    });
    await dump.whenKept();
    dump.close();
    return { answer, isNew };
  }

  test('are given again as they were, until a file is added to, rewritten or removed', async () => {
    const first = await ask('q');
    expect(first.isNew).toBe(true);
    expect(await ask('q')).toEqual({ ...first, isNew: false });
    expect((await ask('another')).isNew).toBe(true);
    appendFileSync(dumpFile, lines(20, 25));
    expect(await ask('q')).toMatchObject({ isNew: true, answer: { rows: 25 } });
    expect(await ask('q')).toMatchObject({ isNew: false, answer: { rows: 25 } });
    writeFileSync(dumpFile, lines(40, 65));
    expect((await ask('q')).isNew).toBe(true);
    writeFileSync(join(folder, 'dump', '2.jsonl'), lines(0, 3));
    expect(await ask('q')).toMatchObject({ isNew: true, answer: { rows: 28 } });
    rmSync(dumpFile);
    expect(await ask('q')).toMatchObject({ isNew: true, answer: { rows: 3 } });
  });

  test('are worth nothing where their bytes are damaged, and are not kept without a cache', async () => {
    await ask('q');
    const path = readdirSync(cache).find((name) => name.endsWith('-answer'));
    truncateSync(join(cache, path ?? ''), statSync(join(cache, path ?? '')).size - 3);
    expect((await ask('q')).isNew).toBe(true);
    expect((await ask('q', { facts: undefined })).isNew).toBe(true);
  });
});

test('the lines of a large file are found once, though nobody asked for its facts', async () => {
  const long = (at: number) => line(at).replace('It is', 'It is '.repeat(40_000));
  writeFileSync(dumpFile, `\n${Array.from({ length: 40 }, (_, at) => long(at)).join('')}`);
  const opened = async () => {
    const dump = Dump.open([dumpFile], { facts: cache });
    const [file] = dump.files;
    let chunks = 0;
    await file?.buildIndex(() => ++chunks > 0);
    await dump.whenKept();
    const rows = Array.from({ length: file?.count ?? 0 }, (_, at) => [
      file?.score(at),
      file?.stepOf(at),
      file?.locator(at),
      file?.raw(at)?.length,
    ]);
    const { notices } = dump;
    dump.close();
    return { rows, wasRead: chunks > 0, wasRewritten: file?.wasRewritten, notices };
  };
  const first = await opened();
  expect([first.wasRead, first.rows.length]).toEqual([true, 40]);
  expect(await opened()).toEqual({ ...first, wasRead: false });
  appendFileSync(dumpFile, long(41));
  const longer = await opened();
  expect([longer.wasRead, longer.rows.length, longer.rows.slice(0, 40)]).toEqual([true, 41, first.rows]);
  // As long as before: only its times tell. Facts were never kept, so there is nothing to say.
  writeFileSync(dumpFile, readFileSync(dumpFile, 'latin1').replaceAll('"score":1', '"score":7'));
  const rewritten = await opened();
  expect([rewritten.rows.map(([score]) => score).slice(0, 3), rewritten.wasRewritten]).toEqual([[0, 7, 0], false]);
});
