import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { FACTS } from '../../../src/core/rollout/facts.ts';
import { ask, directoryWith, jsonLines, rolloutViewer, root, verlLine } from '../../program.ts';

const fixtures = 'fixtures/rollout_data';

describe('ls', () => {
  test('prints a line a rollout, steps in order, what is wrong in a word', async () => {
    const { stdout, code, stderr } = await ask(['ls', fixtures]);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBe(35);
    expect(lines[1]).toMatch(/^fixtures\/rollout_data\/train\/1\.jsonl:1 +1 +1 +0\.00 +3 +0 +1\.2 kB$/);
    expect(lines[5]).toMatch(/code_interpreter: exception$/);
    expect(stdout).not.toContain('\u001b');
    expect([code, stderr]).toEqual([0, '']);
  });

  test('a folder in which nothing is a rollout says what it holds', async () => {
    const folder = directoryWith({ 'a.json': '{"alpha": 1}', 'b.json': '{"beta": 2}', 'c.json': '{"gamma": 3}' });
    const { stderr, code } = await ask(['ls', folder]);
    expect(stderr).toContain('a.json: 1 record of no known form; keys of the first: alpha;');
    expect(stderr).toContain('2 more files of no known form');
    expect([stderr.includes('beta'), code]).toEqual([false, 1]);
    const beside = directoryWith({ 'a.json': '{"alpha": 1}', '1.jsonl': verlLine({ output: 'It is 5.' }) });
    expect((await ask(['ls', beside])).stderr).not.toContain('no known form');
  });

  test.each([
    ['BROTLI', (input: Uint8Array) => brotliCompressSync(input)],
    ['GZIP', (input: Uint8Array) => gzipSync(input)],
    ['SNAPPY', undefined],
  ] as const)('parquet in %s', async (codec, compress) => {
    const lines = Array.from({ length: 300 }, (_, i) => JSON.parse(verlLine({ output: `It is ${i}.`, score: i % 2 })));
    const keys = ['input', 'output', 'score'];
    const columnData = keys.map((name) => ({ name, data: lines.map((line) => line[name]) }));
    const folder = directoryWith({});
    writeFileSync(
      join(folder, '1.parquet'),
      Buffer.from(
        parquetWriteBuffer({
          columnData,
          codec,
          ...(compress === undefined ? {} : { compressors: { [codec]: compress } }),
        }),
      ),
    );
    const { stdout } = await ask(['show', '--json', join(folder, '1.parquet')]);
    const seen = jsonLines(stdout).map(({ turns }) => (turns as { text: string }[]).at(-1)?.text);
    expect(seen).toEqual(lines.map(({ output }) => output));
  });

  test('without a terminal the program itself prints the same', async () => {
    const [bare, listed] = await Promise.all([ask([fixtures]), ask(['ls', fixtures])]);
    expect(bare).toEqual(listed);
  });

  test('--json has the documented keys, and values as they were recorded', async () => {
    const { stdout } = await ask(['ls', '--json', join(fixtures, 'train/3.jsonl')]);
    const rows = jsonLines(stdout);
    expect(rows.length).toBe(12);
    const named = 'locator format stream step sample score'.split(' ');
    const behind = 'group bytes findings unobserved extras labels'.split(' ');
    expect(Object.keys(rows[0]!)).toEqual([...named, ...FACTS.map(({ name }) => name), ...behind]);
    expect(rows[0]).toMatchObject({
      locator: 'fixtures/rollout_data/train/3.jsonl:1',
      format: 'verl',
      stream: 'train',
      step: 3,
      sample: 1,
      score: 1,
      turns: 7,
      tool_calls: 2,
    });
    expect(rows[0]!.findings).toEqual([
      {
        check: 'tool_error',
        severity: 'error',
        turn: 3,
        message: 'a Python traceback',
        error: { tool: 'code_interpreter', kind: 'exception', fault: 'model', exception: 'NameError' },
      },
    ]);
    expect(rows[9]!.score).toBe('NaN');
    const groups = new Map<unknown, number>();
    for (const row of rows) groups.set(row.group, (groups.get(row.group) ?? 0) + 1);
    expect([...groups.values()]).toEqual([4, 4, 4]);
  });

  test('a bad record is a separate row, changes no exit status and prints nothing but JSON', async () => {
    const directory = directoryWith({
      '1.jsonl': `${verlLine({ sid: 5671949450826943757n.toString() })}broken\u001b[2J\n`,
    });
    const { stdout, code } = await ask(['ls', '--json', directory]);
    const rows = jsonLines(stdout);
    expect(rows[1]).toEqual({
      locator: `${directory}/1.jsonl:2`,
      format: null,
      error: 'not JSON at character 1: expected a value',
      bytes: 10,
      findings: [
        { check: 'bad_record', severity: 'error', turn: null, message: 'not JSON at character 1: expected a value' },
      ],
      labels: [],
    });
    expect(code).toBe(0);
  });

  test('keeps the digits of big integers', async () => {
    const directory = directoryWith({
      '1.jsonl': verlLine().replace('"step":1', '"step":1,"sid":5671949450826943757'),
    });
    expect((await ask(['ls', '--json', directory])).stdout).toContain('"sid":5671949450826943757');
  });

  test('--limit stops early; no rows is the answer no', async () => {
    expect((await ask(['ls', '--limit', '2', fixtures])).stdout.trimEnd().split('\n').length).toBe(3);
    expect((await ask(['ls', '--limit', '0', fixtures])).code).toBe(1);
    expect((await ask(['ls', '--limit', 'x', fixtures])).code).toBe(2);
  });

  test('--limit gives the rows of a packed file the groups that they have in the whole list', async () => {
    const long = 'x '.repeat(4000);
    const lines = (record: (at: number) => object): string =>
      Array.from(
        { length: 300 },
        (_, at) => `${JSON.stringify({ output: String(at), note: long, score: 1, ...record(at) })}\n`,
      ).join('');
    for (const text of [
      lines((at) => ({ input: at < 250 ? 'the first' : `another ${at % 3}` })),
      lines(() => ({ input: 'the only one' })),
      lines((at) => ({ input: `q ${at % 5}`, uid: `u${at % 140}` })),
      lines((at) => ({ input: `q ${at % 5}`, step: at < 150 ? 1 : 2 })),
    ]) {
      const directory = directoryWith({});
      const dump = join(directory, 'dump.jsonl.gz');
      writeFileSync(dump, gzipSync(text));
      const groups = async (...flags: string[]) =>
        jsonLines((await ask(['ls', '--json', ...flags, dump])).stdout).map(({ group }) => group);
      const whole = await groups();
      expect(whole).toHaveLength(300);
      for (const limit of [1, 200]) expect(await groups('--limit', String(limit))).toEqual(whole.slice(0, limit));
    }
  });

  test('what cannot be read is reported on stderr: exit 2 for a named path, a notice inside a directory', async () => {
    const directory = directoryWith({ '1.jsonl': verlLine(), '2.jsonl': '' });
    const named = await ask(['ls', join(directory, '2.jsonl')]);
    expect([named.code, named.stdout, named.stderr]).toEqual([
      2,
      '',
      `rollout-viewer: ${directory}/2.jsonl: empty (0 bytes)\n`,
    ]);
    const inside = await ask(['ls', directory]);
    expect([inside.code, inside.stderr]).toEqual([0, `rollout-viewer: ${directory}/2.jsonl: empty (0 bytes)\n`]);
    const both = await ask(['ls', join(directory, '1.jsonl'), join(directory, '2.jsonl')]);
    expect([both.code, both.stdout.includes('1.jsonl:1')]).toEqual([2, true]);
    expect((await ask(['ls', join(directory, 'none')])).code).toBe(2);
    expect((await ask([])).code).toBe(2);
    expect((await ask(['ls'])).code).toBe(2);
  });

  test('rows of a validation stream have no mask', async () => {
    const directory = directoryWith({ 'held_out/1.jsonl': verlLine(), 'train/1.jsonl': verlLine() });
    const masks = await Promise.all(
      [['held_out/1.jsonl:1'], ['held_out/1.jsonl:1', '--validation', 'held*'], ['train/1.jsonl:1']].map(
        async ([name, ...rest]) => {
          const { stdout } = await ask(['show', '--json', join(directory, name!), ...rest]);
          const [row] = jsonLines(stdout);
          return [row!.loss_mask === null, (row!.turns as { trained: boolean }[]).some((turn) => turn.trained)];
        },
      ),
    );
    expect(masks).toEqual([
      [false, true],
      [true, false],
      [false, true],
    ]);
  });

  test('a reader that has seen enough ends it quietly', async () => {
    const directory = directoryWith({ '1.jsonl': verlLine({ output: 'x'.repeat(2000) }).repeat(3000) });
    const { execute, bin } = await import('../../program.ts');
    const { stdout, stderr } = await execute('sh', [
      '-c',
      `"${process.execPath}" "${bin}" ls --json "${directory}" | head -1`,
    ]);
    expect(jsonLines(stdout).length).toBe(1);
    expect(stderr).toBe('');
  });
});

const gsm8k = join(root, 'fixtures/verl-gsm8k');
test('ls reads a real dump of an early verl', async () => {
  const { stdout } = await ask(['ls', '--json', gsm8k]);
  const rows = jsonLines(stdout);
  expect(rows.length).toBe(128);
  expect(rows.every((row) => row.turns === 3 && row.step === 1 && typeof row.group === 'string')).toBe(true);
});

describe('--filter and --sort', () => {
  const list = async (...args: string[]) =>
    jsonLines((await ask(['ls', '--json', ...args, join(fixtures, 'train')])).stdout);

  test('only what the filter lets through, in the order that was asked for', async () => {
    const all = await list();
    const low = await list('--filter', 'score < 1 && turns > 1');
    expect(low.length).toBeGreaterThan(0);
    expect(low).toEqual(all.filter((row) => typeof row.score === 'number' && row.score < 1 && Number(row.turns) > 1));
    const bytes = (await list('--sort', 'bytes:desc')).map((row) => Number(row.bytes));
    expect(bytes).toEqual([...bytes].sort((a, b) => b - a));
    expect(bytes.length).toBe(all.length);
    const scores = (await list('--sort', 'score')).map((row) => row.score);
    expect(scores.at(-1)).toBe('NaN');
    expect(await list('--sort', 'score:desc', '--limit', '1')).toMatchObject([{ score: 1 }]);
  });

  test('nothing left is exit status 1', async () => {
    expect((await ask(['ls', '--json', '--filter', 'score > 100', fixtures])).code).toBe(1);
  });

  test('a mistake is pointed at, with exit status 2', async () => {
    const { code, stdout, stderr } = await ask(['ls', '--filter', 'score < 1 && trns > 2', fixtures]);
    expect([code, stdout]).toEqual([2, '']);
    const [message, shown, caret] = stderr.split('\n');
    expect(message).toContain('did you mean turns?');
    expect(caret!.indexOf('^')).toBe(shown!.indexOf('trns'));
    expect((await ask(['ls', '--sort', 'score:up', fixtures])).code).toBe(2);
    expect((await ask(['ls', '--sort', 'nokey', fixtures])).stderr).toMatch(/no rollout here has nokey/);
    expect((await ask(['ls', '--filter', 'nokey == 1', fixtures])).stderr).toMatch(/nothing matches/);
  });

  test('a stream is filtered as it comes', async () => {
    const stdin = verlLine({ score: 0 }) + verlLine({ score: 1 });
    const { stdout } = await rolloutViewer(['ls', '-', '--json', '--filter', 'score == 1'], { stdin });
    expect(jsonLines(stdout)).toMatchObject([{ locator: '-:2' }]);
  });
});
