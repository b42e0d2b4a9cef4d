import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, directoryWith, jsonLines, verlLine } from '../../program.ts';

/** A dump of three rollouts, and a way to run commands whose labels are kept in a separate folder. */
function dump() {
  const directory = directoryWith({
    'run/1.jsonl': [1, 0, 0.5].map((score, i) => verlLine({ score, output: `answer ${i}` })).join(''),
  });
  const journal = join(directory, 'labels');
  const at = (line: number) => `${join(directory, 'run/1.jsonl')}:${line}`;
  const run = (...args: string[]) => ask([...args, '--journal', journal]);
  return { directory, path: join(directory, 'run'), at, run, journal };
}

test('label says what a rollout is; the last word of a rater holds, and --remove takes it back', async () => {
  const { at, run, path } = dump();
  expect(
    (await run('label', `${at(1)}#t1`, 'hack', '--note', 'the answer is in the prompt', '--rater', 'anna')).stdout,
  ).toBe(`${at(1)}: anna: hack (turn 1): the answer is in the prompt\n`);
  await run('label', at(1), 'fine', '--rater', 'anna');
  await run('label', at(2), 'hack', '--rater', 'anna');
  await run('label', at(2), '--remove', '--rater', 'anna');
  const rows = jsonLines((await run('labels', path, '--json')).stdout);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({ locator: at(1), sample: 1, score: 1, reported: [] });
  expect(rows[0]!.labels).toMatchObject([
    { rater: 'anna', label: 'fine', note: 'the answer is in the prompt', turn: null },
  ]);
  expect(rows[1]).toEqual({ agreement: null, pairs: [] });
});

test('labels shows how far raters agree, and finds a record whose file was moved', async () => {
  const { at, run, path, directory } = dump();
  for (const [line, anna, ben] of [
    [1, 'a', 'a'],
    [2, 'b', 'a'],
    [3, 'b', 'b'],
  ] as const) {
    await run('label', at(line), anna, '--rater', 'anna');
    await run('label', at(line), ben, '--rater', 'ben');
  }
  mkdirSync(join(path, 'deep'));
  renameSync(join(path, '1.jsonl'), join(path, 'deep/7.jsonl'));
  const { stdout } = await run('labels', path);
  expect(stdout).toContain("anna, ben: Cohen's kappa 0.400, the same in 66.7 % (3 rollouts)");
  expect(stdout.split('\n')[1]).toMatch(/deep\/7\.jsonl:1\s+1\.00\s+a\s+a/);
  const { stdout: filtered } = await run('labels', path, '--filter', 'label.ben == b');
  expect(filtered).toContain('deep/7.jsonl:3');
  expect(filtered).not.toContain('deep/7.jsonl:1');
  expect(directory).not.toBe('');
});

test('ls prints labels, and filters by them', async () => {
  const { at, run, path } = dump();
  await run('label', at(2), 'b', '--rater', 'anna');
  const { stdout } = await run('ls', path, '--filter', 'label == "b"', '--json');
  expect(jsonLines(stdout)).toMatchObject([{ locator: at(2), labels: [{ rater: 'anna', label: 'b' }] }]);
  const { stdout: list } = await run('ls', path);
  expect(list.split('\n')[2]).toContain('[b]');
  const { stdout: none } = await run('ls', path, '--filter', 'label == null', '--json');
  expect(jsonLines(none).map(({ locator, labels }) => [locator, labels])).toEqual([
    [at(1), []],
    [at(3), []],
  ]);
});

test('labels that come with a dump are marked as reported', async () => {
  const { directory, path, at, run } = dump();
  const { stdout: made } = await run('label', at(1), 'mine', '--rater', 'me');
  expect(made).toContain('me: mine');
  mkdirSync(join(directory, '.rollout-viewer/run'), { recursive: true });
  const { readFileSync, readdirSync } = await import('node:fs');
  const [file] = readdirSync(join(directory, 'labels'));
  const line = readFileSync(join(directory, 'labels', file!), 'utf8').replace('"mine"', '"theirs"');
  writeFileSync(join(directory, '.rollout-viewer/run/label.jsonl'), line);
  const { stdout } = await run('labels', path);
  expect(stdout).toContain('what came with the dump says me: theirs');
  const [row] = jsonLines((await run('labels', path, '--json')).stdout);
  expect(row!.labels).toMatchObject([{ label: 'mine' }]);
  const { code } = await run('ls', path, '--filter', 'label == theirs');
  expect(code).toBe(1);
});

test.each([
  [['x'.repeat(61)], /at most 60 characters/],
  [['a\nb'], /in one line/],
  [[' '], /a word or a few/],
  [[], /nothing to say of it/],
  [['a', '--remove'], /goes neither with/],
  [['a', '--rater', ''], /--rater/],
])('label %j is reported as a mistake', async (args, message) => {
  const { at, run } = dump();
  const { code, stderr } = await run('label', at(1), ...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

test('an invalid place is reported, and a folder that cannot be written too', async () => {
  const { at, run, path } = dump();
  expect((await run('label', at(9), 'a')).code).toBe(2);
  expect((await run('labels', path)).code).toBe(1);
  const file = join(mkdtempSync(join(tmpdir(), 'rollout-viewer-')), 'file');
  writeFileSync(file, '');
  const { stderr } = await ask(['label', at(1), 'a', '--journal', file]);
  expect(stderr).toContain('results are kept in');
});
