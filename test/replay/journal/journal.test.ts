import { spawn } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseJson } from '../../../src/core/json/parse.ts';
import { printJson } from '../../../src/core/json/print.ts';
import { EntryHead, type EntryKind, Journal } from '../../../src/replay/journal/journal.ts';
import { LinesFile } from '../../../src/replay/journal/lines.ts';
import { recordKey } from '../../../src/replay/journal/record-key.ts';
import { directoryWith, root } from '../../program.ts';

const fresh = () => mkdtempSync(join(tmpdir(), 'rollout-viewer-journal-'));

const NOTES: EntryKind<EntryHead & { [key: string]: unknown }> = {
  name: 'label',
  schema: z.looseObject(EntryHead.shape),
};
const inState = () => ({ env: { XDG_STATE_HOME: fresh() } });

describe('where it lies', () => {
  test('in the state directory, whether the dump or a file of it is named; nothing is written beside the dump', () => {
    const directory = directoryWith({ 'run/rollout_data/train/1.jsonl': '', 'run/rollout_data/2.jsonl': '' });
    const options = inState();
    const places = ['', '/2.jsonl', '/train/1.jsonl', '/train'].map((path) => {
      const journal = Journal.of(join(directory, `run/rollout_data${path}`), options);
      journal.append(NOTES, { record: 'r', locator: 'l' });
      return journal.directory;
    });
    expect(new Set(places).size).toBe(1);
    expect(places[0]).toMatch(/rollout-viewer\/rollout_data-[0-9a-f]{12}$/);
    expect(readdirSync(join(directory, 'run'))).toEqual(['rollout_data']);
  });

  test('results that are kept of a dump are found from any file below it', () => {
    const directory = directoryWith({ 'data/deep/er/1.jsonl': '' });
    const options = inState();
    Journal.of(join(directory, 'data'), options).append(NOTES, { record: 'r', locator: 'l' });
    expect(Journal.of(join(directory, 'data/deep/er/1.jsonl'), options).entries(NOTES, 'r')).toHaveLength(1);
  });

  test('reading makes no directory', () => {
    const directory = directoryWith({ 'data/1.jsonl': '' });
    const options = inState();
    const journal = Journal.of(join(directory, 'data'), options);
    expect(journal.entries(NOTES, 'r')).toEqual([]);
    expect(readdirSync(directory)).toEqual(['data']);
    expect(readdirSync(options.env.XDG_STATE_HOME)).toEqual([]);
  });

  test('in the state directory where the folder that was named cannot be written, and said', () => {
    const directory = directoryWith({ 'data/1.jsonl': '', file: 'a file is in the way' });
    const options = { ...inState(), journal: join(directory, 'file') };
    const journal = Journal.of(join(directory, 'data'), options);
    journal.append(NOTES, { record: 'r', locator: 'l' });
    expect(journal.directory?.startsWith(join(options.env.XDG_STATE_HOME, 'rollout-viewer', 'data-'))).toBe(true);
    expect(journal.problem).toContain('results are kept in');
    expect(Journal.of(join(directory, 'data'), options).entries(NOTES, 'r')).toHaveLength(1);
  });

  test('in memory where nothing can be written at all', () => {
    const directory = directoryWith({ 'data/1.jsonl': '', state: '' });
    const journal = Journal.of(join(directory, 'data'), { env: { XDG_STATE_HOME: join(directory, 'state') } });
    journal.append(NOTES, { record: 'r', locator: 'l' });
    expect(journal.directory).toBeNull();
    expect(journal.entries(NOTES, 'r')).toHaveLength(1);
    expect(journal.problem).toContain('nothing is kept');
  });

  test('beside the dump where the user says so: own lines count, lines that came with the dump are reported', () => {
    const directory = directoryWith({ 'data/1.jsonl': '' });
    const options = { ...inState(), journal: 'beside' };
    const journal = Journal.of(join(directory, 'data'), options);
    journal.append(NOTES, { record: 'r', locator: 'l', n: 1 });
    const file = join(directory, '.rollout-viewer/data/label.jsonl');
    const line = readFileSync(file, 'utf8');
    appendFileSync(file, line.replace('"n":1', '"n":2'));
    const again = Journal.of(join(directory, 'data'), options);
    expect(again.entries(NOTES, 'r').map(({ n }) => n)).toEqual([1]);
    expect(again.reported(NOTES, 'r').map(({ by, entry }) => [by, entry.n])).toEqual([['what came with the dump', 2]]);
    const stranger = Journal.of(join(directory, 'data'), { ...inState(), journal: 'beside' });
    expect(stranger.entries(NOTES, 'r')).toEqual([]);
    expect(stranger.reported(NOTES, 'r')).toHaveLength(2);
  });

  test('what lies beside a dump, and what version 0.1 wrote, is reported and not counted', () => {
    const old = `${JSON.stringify({ kind: 'label', record: 'r', locator: 'l', at: '2026-01-01' })}\n`;
    const directory = directoryWith({ 'data/1.jsonl': '', '.rollout-viewer/data/label.jsonl': old });
    const options = inState();
    const journal = Journal.of(join(directory, 'data'), options);
    journal.append(NOTES, { record: 'r', locator: 'l', n: 1 });
    appendFileSync(join(journal.directory!, 'label.jsonl'), old);
    const again = Journal.of(join(directory, 'data'), options);
    expect(again.entries(NOTES, 'r')).toHaveLength(1);
    expect(again.reported(NOTES, 'r').map(({ by }) => by)).toEqual(['an earlier version', 'what came with the dump']);
  });
});

describe('entries', () => {
  test('belong to the content of a record, not to its place', () => {
    const journal = Journal.of(null, { journal: fresh() });
    journal.append(NOTES, { record: recordKey('{"score": 1}'), locator: '3.jsonl:1' });
    expect(journal.entries(NOTES, recordKey('{"score": 2}'))).toEqual([]);
    expect(journal.entries(NOTES, recordKey('{"score": 1}'))).toHaveLength(1);
    expect(recordKey('a')).not.toBe(recordKey('b'));
  });

  test('are found again, whatever they hold', () => {
    const directory = fresh();
    let written = 0;
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue(), (locator, value) => {
        Journal.of(null, { journal: directory }).append(NOTES, { record: 'r', locator, value: value as null });
        const found = Journal.of(null, { journal: directory }).entries(NOTES, 'r');
        written++;
        expect(found).toHaveLength(written);
        expect(found.at(-1)?.locator).toBe(locator);
        expect(printJson(found.at(-1)?.value as null)).toBe(printJson(parseJson(printJson(value as null))));
      }),
      { numRuns: 60 },
    );
  });

  test('of another process are seen', () => {
    const directory = fresh();
    const [one, other] = [Journal.of(null, { journal: directory }), Journal.of(null, { journal: directory })];
    one.append(NOTES, { record: 'r', locator: 'l', n: 1 });
    other.append(NOTES, { record: 'r', locator: 'l', n: 2 });
    expect(one.entries(NOTES, 'r').map(({ n }) => n)).toEqual([1, 2]);
    expect(other.entries(NOTES, 'r').map(({ n }) => n)).toEqual([1, 2]);
  });

  test('are those of a journal that is opened anew, whoever appends and asks in between', () => {
    const step = fc.record({
      who: fc.nat(1),
      what: fc.constantFrom('append', 'ask', 'half a line'),
      text: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const directory = fresh();
        const journals = [Journal.of(null, { journal: directory }), Journal.of(null, { journal: directory })];
        for (const { who, what, text } of steps) {
          if (what === 'append') journals[who]!.append(NOTES, { record: 'r', locator: 'l', text });
          else if (what === 'ask') journals[who]!.entries(NOTES, 'r');
          else if (journals[who]!.directory) appendFileSync(join(directory, 'label.jsonl'), '{"half');
        }
        const anew = Journal.of(null, { journal: directory }).entries(NOTES, 'r');
        expect(anew).toHaveLength(steps.filter(({ what }) => what === 'append').length);
        for (const journal of journals) expect(journal.entries(NOTES, 'r')).toEqual(anew);
      }),
      { numRuns: 50 },
    );
  });

  test('a torn last line, and lines that are no entry, are passed over and harm no other', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (garbage) => {
        const directory = fresh();
        const path = join(directory, 'label.jsonl');
        const journal = Journal.of(null, { journal: directory });
        journal.append(NOTES, { record: 'r', locator: 'l', n: 1 });
        const whole = readFileSync(path);
        appendFileSync(path, Buffer.concat([whole.subarray(0, whole.length / 2), Buffer.from(garbage)]));
        journal.append(NOTES, { record: 'r', locator: 'l', n: 2 });
        expect(journal.entries(NOTES, 'r').map(({ n }) => n)).toEqual([1, 2]);
        const again = Journal.of(null, { journal: directory }).entries(NOTES, 'r');
        expect(again.map(({ n }) => n)).toEqual([1, 2]);
      }),
      { numRuns: 50 },
    );
  });

  test('half a line is waited for', () => {
    const path = join(fresh(), 'x.jsonl');
    const lines = new LinesFile(() => openSync(path, 'r'));
    writeFileSync(path, '{"a": 1}\n{"a"');
    const news = () => [...lines.news()].map(({ value }) => value);
    expect(news()).toEqual([{ a: 1 }]);
    appendFileSync(path, ': 2}\n');
    expect(news()).toEqual([{ a: 2 }]);
    expect(news()).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)(
    'a file that may not be written costs no entry of this run (skipped for uid 0)',
    () => {
      const directory = fresh();
      const journal = Journal.of(null, { journal: directory });
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'label.jsonl'), '');
      chmodSync(join(directory, 'label.jsonl'), 0o444);
      journal.append(NOTES, { record: 'r', locator: 'l' });
      expect(journal.entries(NOTES, 'r')).toHaveLength(1);
      expect(journal.problem).toContain('not all results were kept');
    },
  );
});

describe('several processes', () => {
  let writer = '';
  beforeAll(async () => {
    writer = join(fresh(), 'writer.mjs');
    await build({
      entryPoints: [join(root, 'test/replay/journal/writer.ts')],
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

  test('write whole lines, each in its own order', async () => {
    const directory = fresh();
    await Promise.all(['a', 'b', 'c'].map((name) => write(directory, name, 200).ended));
    const found = Journal.of(null, { journal: directory }).entries(NOTES, 'r');
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
    const found = journal.entries(NOTES, 'r');
    expect(found.map(({ i }) => i)).toEqual([...Array(found.length).keys()]);
    journal.append(NOTES, { record: 'r', locator: 'l', i: -1 });
    const lines = readFileSync(join(directory, 'label.jsonl'), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ i: -1 });
    expect(existsSync(join(directory, 'label.jsonl'))).toBe(true);
  });
});
