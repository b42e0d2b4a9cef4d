import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { Journal } from '../../src/journal/journal.ts';
import { LinesFile } from '../../src/journal/lines.ts';
import { dumpRoot, journalPlace } from '../../src/journal/place.ts';
import { recordKey } from '../../src/journal/record-key.ts';
import { parseJson } from '../../src/json/parse.ts';
import { printJson } from '../../src/json/print.ts';
import { directoryWith, root } from '../program.ts';

const fresh = () => mkdtempSync(join(tmpdir(), 'rollout-viewer-journal-'));

describe('where it lies', () => {
  test('beside the dump, whether the dump or a file of it is named', () => {
    const directory = directoryWith({ 'run/rollout_data/train/1.jsonl': '', 'run/rollout_data/2.jsonl': '' });
    const beside = join(directory, 'run/.rollout-viewer/rollout_data');
    for (const path of [
      'run/rollout_data',
      'run/rollout_data/2.jsonl',
      'run/rollout_data/train/1.jsonl',
      'run/rollout_data/train',
    ])
      expect(journalPlace(join(directory, path)).directories[0]).toBe(beside);
  });

  test('a journal that is there already is found from any file below its dump', () => {
    const directory = directoryWith({ 'data/deep/er/1.jsonl': '', '.rollout-viewer/data/replay.jsonl': '' });
    expect(dumpRoot(join(directory, 'data/deep/er/1.jsonl'))).toBe(join(directory, 'data'));
  });

  test('reading makes no directory', () => {
    const directory = directoryWith({ 'data/1.jsonl': '' });
    const journal = Journal.of(join(directory, 'data'));
    expect(journal.entries('replay', 'r')).toEqual([]);
    expect(readdirSync(directory)).toEqual(['data']);
  });

  test('in XDG_STATE_HOME where nothing can be written beside it, and said', () => {
    const directory = directoryWith({ 'data/1.jsonl': '', '.rollout-viewer': 'a file stands in the way' });
    const state = fresh();
    const options = { env: { XDG_STATE_HOME: state } };
    const journal = Journal.of(join(directory, 'data'), options);
    journal.append('replay', { record: 'r', locator: 'l' });
    expect(journal.directory?.startsWith(join(state, 'rollout-viewer', 'data-'))).toBe(true);
    expect(journal.problem).toContain('cannot be written; results are kept in');
    expect(Journal.of(join(directory, 'data'), options).entries('replay', 'r')).toHaveLength(1);
  });

  test('in memory where nothing can be written at all', () => {
    const directory = directoryWith({ 'data/1.jsonl': '', '.rollout-viewer': '', state: '' });
    const journal = Journal.of(join(directory, 'data'), { env: { XDG_STATE_HOME: join(directory, 'state') } });
    journal.append('replay', { record: 'r', locator: 'l' });
    expect(journal.directory).toBeNull();
    expect(journal.entries('replay', 'r')).toHaveLength(1);
    expect(journal.problem).toContain('nothing is kept');
  });

  test('work of a time when the better place could not be written is not lost', () => {
    const directory = directoryWith({ 'data/1.jsonl': '', '.rollout-viewer': '' });
    const options = { env: { XDG_STATE_HOME: fresh() } };
    const path = join(directory, 'data');
    Journal.of(path, options).append('replay', { record: 'r', locator: 'l', n: 1 });
    rmSync(join(directory, '.rollout-viewer'));
    const later = Journal.of(path, options);
    later.append('replay', { record: 'r', locator: 'l', n: 2 });
    expect(later.directory).toBe(join(directory, '.rollout-viewer/data'));
    expect(
      Journal.of(path, options)
        .entries('replay', 'r')
        .map(({ n }) => n)
        .toSorted(),
    ).toEqual([1, 2]);
  });
});

describe('entries', () => {
  test('belong to the content of a record, not to its place', () => {
    const journal = Journal.of(null, { journal: fresh() });
    journal.append('replay', { record: recordKey('{"score": 1}'), locator: '3.jsonl:1' });
    expect(journal.entries('replay', recordKey('{"score": 2}'))).toEqual([]);
    expect(journal.entries('replay', recordKey('{"score": 1}'))).toHaveLength(1);
    expect(recordKey('a')).not.toBe(recordKey('b'));
  });

  test('are found again, whatever they hold', () => {
    const directory = fresh();
    let written = 0;
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue(), (locator, value) => {
        Journal.of(null, { journal: directory }).append('replay', { record: 'r', locator, value: value as null });
        const found = Journal.of(null, { journal: directory }).entries('replay', 'r');
        written++;
        expect(found).toHaveLength(written);
        expect(found.at(-1)?.locator).toBe(locator);
        expect(printJson(found.at(-1)?.value)).toBe(printJson(parseJson(printJson(value as null))));
      }),
      { numRuns: 60 },
    );
  });

  test('of another process are seen', () => {
    const directory = fresh();
    const [one, other] = [Journal.of(null, { journal: directory }), Journal.of(null, { journal: directory })];
    one.append('replay', { record: 'r', locator: 'l', n: 1 });
    other.append('replay', { record: 'r', locator: 'l', n: 2 });
    expect(one.entries('replay', 'r').map(({ n }) => n)).toEqual([1, 2]);
    expect(other.entries('replay', 'r').map(({ n }) => n)).toEqual([1, 2]);
  });

  test('a torn last line, and lines that are no entry, are passed over and harm no other', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (garbage) => {
        const directory = fresh();
        const path = join(directory, 'replay.jsonl');
        const journal = Journal.of(null, { journal: directory });
        journal.append('replay', { record: 'r', locator: 'l', n: 1 });
        const whole = readFileSync(path);
        appendFileSync(path, Buffer.concat([whole.subarray(0, whole.length / 2), Buffer.from(garbage)]));
        journal.append('replay', { record: 'r', locator: 'l', n: 2 });
        expect(journal.entries('replay', 'r').map(({ n }) => n)).toEqual([1, 2]);
        const again = Journal.of(null, { journal: directory }).entries('replay', 'r');
        expect(again.map(({ n }) => n)).toEqual([1, 2]);
      }),
      { numRuns: 50 },
    );
  });

  test('half a line is waited for', () => {
    const path = join(fresh(), 'x.jsonl');
    const lines = new LinesFile(path);
    writeFileSync(path, '{"a": 1}\n{"a"');
    expect([...lines.news()]).toEqual([{ a: 1 }]);
    appendFileSync(path, ': 2}\n');
    expect([...lines.news()]).toEqual([{ a: 2 }]);
    expect([...lines.news()]).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)(
    'a file that may not be written costs no entry of this run (skipped for uid 0)',
    () => {
      const directory = fresh();
      const journal = Journal.of(null, { journal: directory });
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'replay.jsonl'), '');
      chmodSync(join(directory, 'replay.jsonl'), 0o444);
      journal.append('replay', { record: 'r', locator: 'l' });
      expect(journal.entries('replay', 'r')).toHaveLength(1);
      expect(journal.problem).toContain('not all results were kept');
    },
  );
});

describe('several processes', () => {
  let writer = '';
  beforeAll(async () => {
    writer = join(fresh(), 'writer.mjs');
    await build({
      entryPoints: [join(root, 'test/journal/writer.ts')],
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: writer,
    });
  });
  const write = (directory: string, name: string, count: number) => {
    const child = spawn(process.execPath, [writer, directory, name, String(count)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
    const begun = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    return { child, ended, begun };
  };

  test('write whole lines, each in the order of its own', async () => {
    const directory = fresh();
    await Promise.all(['a', 'b', 'c'].map((name) => write(directory, name, 200).ended));
    const found = Journal.of(null, { journal: directory }).entries('replay', 'r');
    for (const name of ['a', 'b', 'c'])
      expect(found.filter((entry) => entry.name === name).map(({ i }) => i)).toEqual([...Array(200).keys()]);
  });

  test('kill -9 takes nothing that was written before, and what follows is whole', async () => {
    const directory = fresh();
    const { child, ended, begun } = write(directory, 'killed', 1_000_000);
    await begun;
    child.kill('SIGKILL');
    await ended;
    const journal = Journal.of(null, { journal: directory });
    const found = journal.entries('replay', 'r');
    expect(found.map(({ i }) => i)).toEqual([...Array(found.length).keys()]);
    journal.append('replay', { record: 'r', locator: 'l', i: -1 });
    const lines = readFileSync(join(directory, 'replay.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ i: -1 });
    expect(existsSync(join(directory, 'replay.jsonl'))).toBe(true);
  });
});
