import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kindOf } from '../../../src/core/dump/containers/kind.ts';
import { joinOf } from '../../../src/core/dump/joins/index.ts';
import { endingOf, parseLocator } from '../../../src/core/dump/locator.ts';
import { findFiles, inOrder, isValidationStream, problemOfFile, stepOfName } from '../../../src/core/dump/paths.ts';

function folder(files: Record<string, string | Buffer>): string {
  const root = mkdtempSync(join(tmpdir(), 'paths-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), content);
  }
  return root;
}
const names = (root: string): string[] => findFiles([root]).files.map(({ path }) => path.slice(root.length + 1));

test('the step of a file is the number at the end of its name', () => {
  expect(
    [
      '120.jsonl',
      'step_7.jsonl',
      'val-0.jsonl.gz',
      'a1b.jsonl',
      'v2_step_10.jsonl',
      '1234567890123456.jsonl',
      'train-00000-of-00002.parquet',
    ].map(stepOfName),
  ).toEqual([120, 7, 0, null, 10, null, null]);
});

test('streams are by name, steps by number, and names without one behind them', () => {
  const file = (stream: string, path: string) => ({ stream, path });
  const files = [file('val', '1.jsonl'), file('train', 'x.jsonl'), file('train', '10.jsonl'), file('train', '9.jsonl')];
  expect(files.sort(inOrder).map(({ path }) => path)).toEqual(['9.jsonl', '10.jsonl', 'x.jsonl', '1.jsonl']);
});

test('validation is recognised by a part of the stream', () => {
  expect(['val', 'run/validation', 'valid_2', 'VAL', 'value', 'evaluate', 'interval'].map(isValidationStream)).toEqual([
    true,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(['dumped_evals/global_step_20', 'eval', 'eval_results/run', 'eval_plus_run'].map(isValidationStream)).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

describe('a directory', () => {
  test('a file of validation beside those of training is a stream of its own, by name', () => {
    const names = ['train_data_step3.jsonl', 'val_data_step3.jsonl', 'eval_11.pt', 'Validation-7.jsonl', 'eval.jsonl'];
    const others = ['values_1.jsonl', 'evaluator.jsonl', 'interval_2.jsonl', 'eval/val_1.jsonl'];
    const root = folder(Object.fromEntries([...names, ...others].map((name) => [name, '{}\n'])));
    const { files } = findFiles([root]);
    const run = basename(root);
    const streams = Object.fromEntries(files.map(({ path, stream }) => [basename(path), stream]));
    expect(streams).toEqual({
      'train_data_step3.jsonl': run,
      'val_data_step3.jsonl': `${run}/val`,
      'eval_11.pt': `${run}/eval`,
      'Validation-7.jsonl': `${run}/validation`,
      'eval.jsonl': `${run}/eval`,
      'values_1.jsonl': run,
      'evaluator.jsonl': run,
      'interval_2.jsonl': run,
      'val_1.jsonl': 'eval',
    });
    expect(findFiles([join(root, 'eval_11.pt')]).files[0]?.stream).toBe(`${run}/eval`);
  });

  test('gives the files that may hold rollouts, those of nested folders too, and leaves dot folders out', () => {
    const root = folder({
      '2.jsonl': 'x',
      '10.jsonl.gz': 'x',
      'notes.md': 'x',
      'settings.yaml': 'x',
      'weights.pt': 'x',
      'val/1.jsonl': 'x',
      '.rollout-viewer/done.jsonl': 'x',
    });
    expect(names(root).sort()).toEqual(['10.jsonl.gz', '2.jsonl', 'val/1.jsonl']);
    expect(findFiles([root]).files.map(({ stream }) => stream)).toContain('val');
  });

  test('JSON beside files of lines is about them, but for one that is called by a number', () => {
    expect(names(folder({ 'a.jsonl': 'x', 'summary.json': 'x', '3.json': 'x' })).sort()).toEqual(['3.json', 'a.jsonl']);
    expect(names(folder({ 'summary.json': 'x' }))).toEqual(['summary.json']);
  });

  test('shows each rollout once: another view of the same ones is left out', () => {
    expect(names(folder({ 'rollouts/1.jsonl': 'x', 'token_exports/1.jsonl': 'x' }))).toEqual(['rollouts/1.jsonl']);
    expect(names(folder({ 'all/1.jsonl': 'x', 'effective/1.jsonl': 'x' }))).toEqual(['all/1.jsonl']);
    expect(names(folder({ 'rollout_data/1.jsonl': 'x', 'train_data/1.jsonl': 'x' }))).toEqual(['rollout_data/1.jsonl']);
    expect(names(folder({ 'run.db': 'x', 'run_traces.parquet': 'x' }))).toEqual(['run.db']);
    expect(names(folder({ 'result.json': 'x', 'trial.log': 'x', 'agent/a.jsonl': 'x' }))).toEqual(['result.json']);
    expect(names(folder({ 'result.json': 'x', 'agents/a.jsonl': 'x' })).sort()).toEqual([
      'agents/a.jsonl',
      'result.json',
    ]);
  });

  test('of Weights & Biases names a run by its own name, and shows its tables', () => {
    const run = 'offline-run-20261124_100000-ab12cd34';
    const table = 'files/media/table/rollouts_1_01.table.json';
    const root = folder({ [`wandb/${run}/${table}`]: 'x', [`wandb/${run}/run-ab12cd34.wandb`]: 'x' });
    symlinkSync(run, join(root, 'wandb/latest-run'));
    expect(names(root)).toEqual([`wandb/${run}/${table}`]);
  });

  test('that leads back into itself ends, and a file that is named twice is one', () => {
    const root = folder({ '1.jsonl': 'x' });
    symlinkSync(root, join(root, 'again'));
    expect(names(root)).toEqual(['1.jsonl']);
    expect(findFiles([root, join(root, '1.jsonl')]).files).toHaveLength(1);
  });

  test('without any, and a path that is not there, is refused; beside one that can be read it is said', () => {
    const root = folder({ 'notes.md': 'x' });
    expect(() => findFiles([root])).toThrow('no file in it that may hold rollouts');
    const good = folder({ '1.jsonl': '{}\n' });
    const found = findFiles([good, join(root, 'none')]);
    expect([found.files.length, found.refused.length]).toEqual([1, 1]);
    expect(findFiles([join(root, 'none')], true).files).toEqual([]);
  });

  test('says what a walk does not open: a line for each kind', () => {
    const root = folder({
      '1.jsonl': '{}\n',
      'task/step_0.pkl.gz': 'x',
      'task/step_1.pkl.gz': 'x',
      'task/exp_args.pkl': 'x',
      'more.jsonl.xz': 'x',
      'render_12.html': 'x',
      'report.html': 'x',
      'actor/model_world_size_8_rank_0.pt': 'x',
      'actor/optim.pt': 'x',
      'actor/data.pt': 'x',
      '5.pt': 'x',
      'rollouts.pt': 'x',
      '.hidden.tar': 'x',
    });
    const { files, notices } = findFiles([root]);
    expect(files.map(({ path }) => path.slice(root.length + 1))).toEqual(['1.jsonl', '5.pt']);
    expect(notices.map((text) => text.slice(root.length + 2).replaceAll(root, '.')).sort()).toEqual([
      '1 .html file not opened, such as ./render_12.html; name one to read it, if it can be read',
      '1 .jsonl.xz file not opened, such as ./more.jsonl.xz; name one to read it, if it can be read',
      '1 .pkl file not opened, such as ./task/exp_args.pkl; name one to read it, if it can be read',
      '1 .pt file not opened, such as ./rollouts.pt; name one to read it, if it can be read',
      '2 .pkl.gz files not opened, such as ./task/step_0.pkl.gz; name one to read it, if it can be read',
    ]);
    const only = folder({ 'step_0.pkl.gz': 'x', 'b.tar.gz': 'x' });
    expect(() => findFiles([only])).toThrow(
      /^.*: no file in it that may hold rollouts .*\n1 \.(?:pkl|tar)\.gz file .*\n1 \.(?:pkl|tar)\.gz file /,
    );
  });

  test('a run whose rollouts all failed says so', () => {
    const failures = '{"cause": "model_gone"}\n{"cause": "model_gone"}\n{"cause": "reward_fault"}\n';
    const root = folder({ '.rollout-viewer/failures.jsonl': failures });
    expect(() => findFiles([root])).toThrow(
      '3 rollouts failed and have no line (2 model_gone, 1 reward_fault); rollout --resume makes what failed again',
    );
  });
});

test('a file that is no dump says what it is', () => {
  const root = folder({
    empty: '',
    lfs: 'version https://git-lfs.github.com/spec/v1\noid sha256:1\n',
    page: '\n<!DOCTYPE html><html>',
    utf16: Buffer.from('\ufeff{}', 'utf16le'),
    binary: Buffer.from([1, 0, 2]),
    good: '{}\n',
  });
  const said = (name: string) => problemOfFile(join(root, name));
  expect([said('empty'), said('page'), said('good')]).toEqual(['empty (0 bytes)', 'an HTML page, not a dump', null]);
  expect(said('lfs')).toContain('git lfs pull');
  expect(said('utf16')).toContain('iconv');
  expect(said('binary')).toContain('binary');
  expect(problemOfFile(root)).toBe('not a regular file');
});

describe('a locator', () => {
  test.each([
    ['a:b.jsonl:57', { path: 'a:b.jsonl', line: 57, part: 0, turn: null }],
    ['3.jsonl:57#t4', { path: '3.jsonl', line: 57, part: 0, turn: 4 }],
    ['3.jsonl:57.2', { path: '3.jsonl', line: 57, part: 2, turn: null }],
    ['3.jsonl:57.2#t0', { path: '3.jsonl', line: 57, part: 2, turn: 0 }],
  ])('%s', (text, locator) => {
    expect(parseLocator(text)).toEqual({ member: '', ...locator });
  });

  test('of a file alone, of a member of a zip, and of nothing', () => {
    const root = folder({ 'a.zip': 'PK', 'one:5': 'x' });
    expect(parseLocator(join(root, 'a.zip'))).toMatchObject({ line: null, member: '' });
    expect(parseLocator(`${join(root, 'a.zip')}/in/1.json:2`)).toMatchObject({
      path: join(root, 'a.zip'),
      line: 2,
      member: '/in/1.json',
    });
    // A path that is there is a path, whatever its name looks like.
    expect(parseLocator(join(root, 'one:5'))).toMatchObject({ path: join(root, 'one:5'), line: null });
    expect(() => parseLocator('nothing.jsonl')).toThrow('not a locator');
    expect(endingOf({ member: '/m', line: 5, part: 2 })).toBe('/m:5.2');
  });
});

describe('the first bytes show the container', () => {
  const kind = (text: string | number[], path: string) => kindOf(Buffer.from(text as string), path);
  test.each<[string | number[], string, string]>([
    [[0x1f, 0x8b], 'a.jsonl', 'gzip'],
    [[0x28, 0xb5, 0x2f, 0xfd], 'a', 'zstd'],
    [[0x5a, 0x2a, 0x4d, 0x18], 'a', 'zstd'],
    ['PK\x03\x04', 'a', 'zip'],
    ['PAR1', 'a', 'parquet'],
    ['SQLite format 3\0', 'a', 'sqlite'],
    [[0x80, 2], 'a', 'pickle'],
    [[0x80, 9], 'a', 'lines'],
    ['a,b\n', 'a.csv', 'csv'],
    ['a,b\n', 'a.csv.gz', 'csv'],
    ['a: b\n', 'a.yml', 'yaml'],
    ['[\n', 'a.jsonl', 'lines'],
    ['{\n  "a": 1\n}\n{\n', 'a.jsonl', 'json'],
    ['{"a": 1}\n', 'a', 'lines'],
    ['{"a":\n 1}\n', 'a', 'json'],
    ['{"a":\n{"b": 1}\n', 'a', 'lines'],
    ['\ufeff [1]\n', 'a', 'json'],
    ['[1]\n[2]\n', 'a', 'lines'],
    ['{"a": 1}', 'a.json', 'json'],
    ['{}\n{"a": 1}\n', 'a', 'lines'],
  ])('%j in %s: %s', (text, path, wanted) => {
    expect(kind(text, path)).toBe(wanted);
  });
});

describe('links', () => {
  const line = '{"input":"q","output":"a","score":1}\n';

  test('that lead out of a directory are not followed by a walk, and reported; within it they are', () => {
    const outside = folder({ 'secret.jsonl': line, 'deep/2.jsonl': line });
    const root = folder({ '1.jsonl': line, 'train/2.jsonl': line });
    symlinkSync(join(outside, 'secret.jsonl'), join(root, '3.jsonl'));
    symlinkSync(join(outside, 'deep'), join(root, 'deep'));
    symlinkSync('../'.repeat(20), join(root, 'up'));
    symlinkSync('train', join(root, 'again'));
    symlinkSync('1.jsonl', join(root, '4.jsonl'));
    symlinkSync(join(root, '4.jsonl'), join(root, '5.jsonl'));
    const { files, notices } = findFiles([root]);
    expect(files.map(({ path }) => path.slice(root.length + 1)).sort()).toEqual([
      '1.jsonl',
      '4.jsonl',
      '5.jsonl',
      'again/2.jsonl',
    ]);
    expect(notices.sort()).toEqual(
      ['3.jsonl', 'deep', 'up'].map(
        (name) => `${join(root, name)}: a link out of ${root}, not followed; name it to open it`,
      ),
    );
  });

  test('that a person names are followed, and reported', () => {
    const outside = folder({ '1.jsonl': line });
    const root = folder({});
    symlinkSync(outside, join(root, 'latest'));
    symlinkSync(join(outside, '1.jsonl'), join(root, 'one.jsonl'));
    const { files, notices } = findFiles([join(root, 'latest'), join(root, 'one.jsonl')]);
    expect(files.map(({ path }) => path).sort()).toEqual([join(root, 'latest/1.jsonl'), join(root, 'one.jsonl')]);
    expect(notices[0]).toBe(`${join(root, 'latest')}: a link, followed to ${outside}`);
    expect(notices).toHaveLength(2);
  });

  test('in the place of files beside a dump add nothing', async () => {
    const outside = folder({ 'events/1.json': '{"kind":"secret"}', 'sub/a.jsonl': '{"secret":1}\n' });
    const root = folder({ 'base_state.json': '{}', 's.jsonl': line, 's/x': '' });
    symlinkSync(join(outside, 'events'), join(root, 'events'));
    symlinkSync(join(outside, 'sub'), join(root, 's/subagents'));
    expect(joinOf(join(root, 'base_state.json'))).toBeNull();
    expect(joinOf(join(root, 's.jsonl'))).toBeNull();
  });
});
