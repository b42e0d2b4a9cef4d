import { mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Folder } from '../../../src/core/files/folder.ts';
import type { ReplayOutcome } from '../../../src/replay/index.ts';
import { Journal } from '../../../src/replay/journal/journal.ts';
import { LinesFile } from '../../../src/replay/journal/lines.ts';
import { journalPlace, mayHoldEntries } from '../../../src/replay/journal/place.ts';
import { Seal } from '../../../src/replay/journal/seal.ts';
import {
  historyOf,
  keepOutcome,
  knownOutcome,
  staleParts,
  standingOutcome,
  standingWord,
} from '../../../src/replay/results.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'results-'));
const plan = (call = 0) => ({ record: 'key', call, turn: 1, locator: '1.jsonl:1', recorded: null }) as never;
const HOW = { python: '3.11' };

function outcome(verdict: string | null, more: Partial<ReplayOutcome> = {}): ReplayOutcome {
  const attempt = {
    result: '4',
    reward: null,
    stdout: '4',
    stderr: '',
    exit_status: 0,
    duration: 1,
    run_time: 1,
    verdict,
    error: null,
    at: 'now',
  };
  return {
    locator: '1.jsonl:1',
    turn: 1,
    call: 0,
    name: 'f',
    backend: 'here',
    environment: null,
    status: verdict === null ? 'error' : verdict === 'same' ? 'same' : 'drift',
    verdict,
    compared: 'whole',
    reason: null,
    result: { text: '4', reward: null, metrics: null },
    recorded: null,
    attempts: [attempt],
    outcomes: [],
    time: null,
    edited: false,
    predecessors: [],
    ...more,
  } as never;
}

describe('the last answer of a call', () => {
  test('is one of the call as it was recorded, and no error', () => {
    const journal = Journal.of(join(folder(), 'dump'), { journal: folder() });
    keepOutcome(journal, plan(), HOW, outcome('same'));
    keepOutcome(journal, plan(), HOW, outcome('different', { edited: true }));
    keepOutcome(journal, plan(), HOW, outcome(null));
    keepOutcome(journal, plan(), HOW, outcome('flaky', { attempts: [] }));
    expect(knownOutcome(journal, plan(), HOW)?.verdict).toBe('same');
    expect(standingOutcome(journal, plan())?.status).toBe('error');
    expect(historyOf(journal, plan()).map(({ status, edited }) => [status, edited])).toEqual([
      ['same', false],
      ['drift', true],
      ['error', false],
    ]);
    expect(knownOutcome(journal, plan(1), HOW)).toBeNull();
    journal.close();
  });

  test('does not hold if it was reached in another way, which is reported', () => {
    const journal = Journal.of(join(folder(), 'dump'), { journal: folder() });
    keepOutcome(journal, plan(), HOW, outcome('same'));
    expect(knownOutcome(journal, plan(), { python: '3.12' })).toBeNull();
    expect(staleParts(journal, plan(), { python: '3.12' })).toEqual(['python 3.12, was 3.11']);
    expect(staleParts(journal, plan(1), HOW)).toEqual([]);
    journal.close();
  });

  test('of several calls the worst is the word of the rollout', () => {
    const words = (...verdicts: string[]) => {
      const journal = Journal.of(join(folder(), 'dump'), { journal: folder() });
      for (const [call, verdict] of verdicts.entries())
        keepOutcome(journal, plan(call), HOW, outcome(verdict, { call }));
      keepOutcome(journal, plan(9), HOW, outcome('now_fails', { call: 9, edited: true }));
      const word = standingWord(journal, 'key');
      journal.close();
      return word;
    };
    expect(words()).toBe('');
    expect(words('same', 'normalised')).toBe('normalised');
    expect(words('same', 'flaky', 'different')).toBe('different');
    expect(words('different', 'now_fails')).toBe('now_fails');
    expect(words('infra', 'flaky')).toBe('flaky');
  });

  test('is kept without the rest of a text that is very long', () => {
    const journal = Journal.of(join(folder(), 'dump'), { journal: folder() });
    keepOutcome(
      journal,
      plan(),
      HOW,
      outcome('same', { result: { text: 'x'.repeat(20_000), reward: null, metrics: null } }),
    );
    expect(knownOutcome(journal, plan(), HOW)?.result?.text).toHaveLength(16_384);
    journal.close();
  });
});

describe('a file of lines', () => {
  const linesOf = (path: string) => new LinesFile((mode) => openSync(path, mode === 'read' ? 'r' : 'a+'));
  const news = (file: LinesFile) => [...file.news()].map(({ value }) => value.n);

  test('that shrank is another one, and is read from its start', () => {
    const path = join(folder(), 'a.jsonl');
    writeFileSync(path, '{"n":1}\n{"n":2}\n');
    const file = linesOf(path);
    expect([news(file), news(file)]).toEqual([[1, 2], []]);
    writeFileSync(path, '{"n":3}\n');
    expect(news(file)).toEqual([3]);
  });

  test('leaves out a line that is longer than any that it writes', () => {
    const path = join(folder(), 'a.jsonl');
    writeFileSync(path, `{"n":1}\n{"n":2,"text":"${'x'.repeat(17 << 20)}"}\n{"n":3}\n`);
    const file = linesOf(path);
    expect([news(file), file.badLines]).toEqual([[1, 3], 0]);
  });
});

test('streams in streams belong to one dump', () => {
  const env = { XDG_STATE_HOME: folder() };
  const place = (path: string) => journalPlace(path, { env }).folders[0]!.names[1];
  const run = join(folder(), 'run');
  for (const name of ['train', 'val/val_1', 'other']) mkdirSync(join(run, name), { recursive: true });
  expect([place(join(run, 'train')), place(join(run, 'val/val_1'))]).toEqual([place(run), place(run)]);
  expect(place(join(run, 'other'))).not.toBe(place(run));
});

test('a place may hold entries of a kind if one of its folders has a file of it', () => {
  const journal = folder();
  const place = journalPlace(folder(), { journal, env: { XDG_STATE_HOME: folder() } });
  expect(mayHoldEntries(place)).toBe(false);
  writeFileSync(join(journal, 'label-1000.jsonl'), '');
  expect([mayHoldEntries(place), mayHoldEntries(place, 'label'), mayHoldEntries(place, 'fork')]).toEqual([
    true,
    true,
    false,
  ]);
});

describe('the seal of a line', () => {
  test('holds for the line that it was put on, under the key of its user', () => {
    const place = folder();
    const mine = Seal.of(Folder.open(place, [], false));
    const again = Seal.of(Folder.open(place, [], false));
    const other = Seal.of(Folder.open(folder(), [], false));
    const line = mine.seal('{"a":1}');
    expect([mine.holds(line), again.holds(line), other.holds(line)]).toEqual([true, true, false]);
    expect([mine.holds(line.replace('1', '2')), mine.holds('{"a":1}')]).toEqual([false, false]);
  });

  test('is not made with a file that holds no key', () => {
    const place = folder();
    writeFileSync(join(place, 'journal.key'), 'something else\n');
    expect(() => Seal.of(Folder.open(place, [], false))).toThrow('holds no key; remove it');
  });
});
