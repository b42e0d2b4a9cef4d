import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';

const folder = mkdtempSync(join(tmpdir(), 'file-forms-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = `You are a solver with a machine at hand.\n${'Write code, look at what it prints, then answer.\n'.repeat(8)}Task:\n`;
const seen = (n: number) => `Observation:\n${n}\nYou have ${n} steps left`;
const said = (n: number) => `Assistant:\n<thought> step ${n} </thought>\n<execute>\nprint(${n})\n</execute>`;
const answer = 'Assistant:\nThe answer is 4';

/** A dialogue without a trace of its template, in verl's form. */
const record = (task: string, steps: number, first = said(9)) => {
  const middle = Array.from({ length: steps }, (_, i) => `${seen(i)}.${i + 1 < steps ? said(i) : answer}`);
  return { input: `${HEAD}${task}`, output: first + middle.join(''), score: 1, step: 1 };
};
const lines = (records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join('');
const tasks = [
  'What is 2 + 2?',
  'How many legs has a dog?',
  'Count the corners of a square.',
  'Name an even prime, twice.',
];
const many = tasks.map((task, i) => record(task, i + 1));
/** It begins without the label that the others have, so that it does not show by itself where replies begin. */
const odd = record('Add one to three.', 2, 'First I look.\n<execute>\nprint(4)\n</execute>');

async function turnsOf(path: string): Promise<string[]> {
  const dump = Dump.open([path]);
  const found: string[] = [];
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    for (let i = 0; i < file.count; i++)
      found.push(
        file
          .read(i)
          .rollout!.turns.map(({ role, confidence }) => `${role} ${confidence}`)
          .join(', '),
      );
  }
  dump.close();
  return found;
}

const turns = (replies: number): string =>
  [
    'user inferred',
    ...Array.from({ length: 2 * replies - 1 }, (_, i) => `${i % 2 ? 'user' : 'assistant'} inferred`),
  ].join(', ');

test('turns that a record does not show by itself are found by what the records of its file repeat', async () => {
  const path = join(folder, 'many.jsonl');
  writeFileSync(path, lines([...many, odd]));
  expect(await turnsOf(path)).toEqual([turns(2), turns(3), turns(4), turns(5), turns(3)]);
});

test('alone it is unknown, and nothing of it is certain', async () => {
  const path = join(folder, 'alone.jsonl');
  writeFileSync(path, lines([odd]));
  const [alone] = await turnsOf(path);
  expect(alone).toContain('unknown');
  expect(alone).not.toContain('marked');
});

test('a prompt that varies in its middle, or in which two texts may touch, is not one text', async () => {
  const path = join(folder, 'touching.jsonl');
  writeFileSync(
    path,
    lines(tasks.map((task) => ({ ...record(task, 1), input: `${HEAD}${task} Paid in $Hey, could you solve it ` }))),
  );
  for (const found of await turnsOf(path)) expect(found).toMatch(/^user unknown/);
});

test('a file that grows is read as one that was whole from the start', async () => {
  const path = join(folder, 'growing.jsonl');
  writeFileSync(path, lines([odd]));
  const dump = Dump.open([path]);
  const [file] = dump.files;
  await file!.update({ holdBack: true });
  expect(file!.read(0).rollout!.turns.some(({ confidence }) => confidence === 'unknown')).toBe(true);
  appendFileSync(path, lines(many));
  // The first record reads otherwise now: it is replaced, not only followed by others.
  expect(await file!.update({ holdBack: true })).toBe('replaced');
  expect(file!.read(0).rollout!.turns.some(({ confidence }) => confidence === 'unknown')).toBe(false);
  appendFileSync(path, lines(many));
  expect(await file!.update({ holdBack: true })).toBe('appended');
  dump.close();
});
