import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAT_TEMPLATE, TOKENIZER_JSON } from '../../engine/byte-tokenizer.ts';
import { ask, directoryWith, jsonLines, root, verlLine } from '../../program.ts';

let folder: string;
const record = (output: string, score: number, more = {}) =>
  JSON.stringify({ input: 'user\nWhat is 2 + 3?\nassistant\n', output, gts: '5', score, step: 1, ...more });
const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n';
const failed = 'user\n<tool_response>\nNameError: \x1b[31mx\n</tool_response>\nassistant\nA NameError, so no.';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'grep-'));
  const lines = [record('It is 5.', 1, { task: 'a,"b"' }), record(call + failed, 0, { task: 'c' }), '{"input": "cut'];
  writeFileSync(join(folder, '1.jsonl'), `${lines.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('grep', () => {
  test('names rollout, turn and role; what a model wrote reaches no terminal unescaped', async () => {
    const { code, stdout } = await ask(['grep', 'NameError', folder]);
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`${folder}/1.jsonl:2#t2: tool: `);
    expect(lines[1]).toContain(`${folder}/1.jsonl:2#t3: assistant: A NameError, so no.`);
    expect(stdout).not.toContain('\x1b');
  });

  test('by role, counted, limited; smart case; a hit is what its offsets say', async () => {
    const json = async (...args: string[]) => {
      const { stdout } = await ask(['grep', ...args, folder, '--json']);
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    };
    expect(await json('nameerror', '--count')).toEqual([{ locator: `${folder}/1.jsonl:2`, hits: 2 }]);
    expect(await json('nAmeerror')).toEqual([]);
    const [hit, ...others] = await json('so no', '--role', 'assistant', '--context', '3');
    expect(others).toEqual([]);
    expect(hit).toMatchObject({ turn: 3, role: 'assistant', text: 'so no', before: 'r, ', after: '.' });
    expect(hit.end - hit.start).toBe(5);
    expect(await json('5|no', '--limit', '1')).toHaveLength(1);
    expect(await json('NameError', '--filter', 'score == 1')).toEqual([]);
  });

  test('as a table: a line a turn with its hits and the first in its words, as on the screen', async () => {
    const { stdout } = await ask(['grep', 'e', folder, '--csv', '--role', 'tool', 'assistant']);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head).toBe('rollout,role,score,hits,text');
    expect(lines.map((line) => line.split(',').slice(0, 4))).toContainEqual([
      `${folder}/1.jsonl:2#t2`,
      'tool',
      '0',
      '2',
    ]);
    const page = await ask(['grep', 'NameError', folder, '--html', '-', '--limit', '1']);
    expect(page.stdout).toContain('NameError: 2 hits in 1 rollout');
    expect(page.stderr).toContain('1 turn more than --limit');
    expect(page.stdout).not.toContain('\x1b');
    expect(await ask(['grep', 'e', folder, '--csv', '--count'])).toMatchObject({ code: 2, stdout: '' });
  });

  test('the template and the tokenizer of the user hold for its filter', async () => {
    const tokenizer = join(folder, 'tokenizer.json');
    const template = join(folder, 'chat.jinja');
    writeFileSync(tokenizer, JSON.stringify(TOKENIZER_JSON));
    writeFileSync(template, CHAT_TEMPLATE);
    for (const check of ['prompt_differs', 'ids_drift', 'mask_end']) {
      const cases: { finds: boolean; encoding?: true; record: object }[] = JSON.parse(
        readFileSync(new URL(`../../../fixtures/findings/${check}.json`, import.meta.url), 'utf8'),
      );
      const read = cases.filter(({ encoding }) => encoding === true);
      const dump = join(
        directoryWith({ '1.jsonl': read.map(({ record }) => `${JSON.stringify(record)}\n`).join('') }),
        '1.jsonl',
      );
      const wanted = read.flatMap(({ finds }, at) => (finds ? [`${dump}:${at + 1}`] : []));
      expect([check, wanted.length > 0 && wanted.length < read.length]).toEqual([check, true]);
      const given = ['--tokenizer', tokenizer, '--chat-template', template, '--filter', `finding:${check}`];
      const { stdout } = await ask(['grep', '.', dump, '--count', ...given]);
      const found = stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/: \d+$/, '')]));
      expect([check, found]).toEqual([check, wanted]);
    }
  });

  test('nothing found is exit status 1, a pattern that cannot be read or a missing path 2', async () => {
    expect(await ask(['grep', 'zebra', folder])).toMatchObject({ code: 1, stdout: '' });
    expect(await ask(['grep', '(', folder])).toMatchObject({ code: 2, stdout: '' });
    // The message holds nothing that was not typed.
    const { stderr } = await ask(['grep', '(', folder]);
    expect(stderr).toBe('rollout-viewer: the pattern cannot be read: missing closing )\n');
    expect(await ask(['grep', 'x', join(folder, 'none')])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('stats', () => {
  test('a row a step, bad records apart', async () => {
    const { code, stdout } = await ask(['stats', folder, '--json']);
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(
      rows.map(({ step, rollouts, bad_records, score_mean }) => [step, rollouts, bad_records, score_mean]),
    ).toEqual([[1, 2, 1, 0.5]]);
    expect(rows[0].facts).toMatchObject({ tool_calls: 0.5, tool_errors: 1 });
    expect(rows[0].findings).toEqual({ tool_error: 1 });
  });

  test('by a key of the records, as CSV that a reader takes apart again', async () => {
    const { stdout } = await ask(['stats', folder, '--by', 'task', '--csv', '--filter', 'score >= 0']);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head!.split(',').slice(0, 6)).toEqual(['stream', 'task', 'rollouts', 'bad', 'scored', 'score']);
    expect(lines.map((line) => line.replace(/^[^,]*,/, '').replace(/((?:"(?:[^"]|"")*"|[^,]*),\d).*/, '$1'))).toEqual([
      '"a,""b""",1',
      'c,1',
    ]);
  });

  test('no two columns of the CSV have one name', async () => {
    const { stdout } = await ask(['stats', join(root, 'fixtures/rollout_data'), '--csv']);
    const names = stdout.slice(0, stdout.indexOf('\n')).split(',');
    // Both a fact and a finding have this name.
    expect(names).toEqual(expect.arrayContaining(['repetition', 'finding:repetition']));
    expect(names.length).toBe(new Set(names).size);
  });

  test('rollouts without a step, or another field of ours, are one row', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ];
    const lines = [1, 0].map((score) => JSON.stringify({ messages, score }));
    const path = directoryWith({ 'session.jsonl': `${lines.join('\n')}\n` });
    for (const by of [[], ['--by', 'policy']]) {
      const { code, stdout } = await ask(['stats', path, ...by]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^ *– +2 +0 +2 +0\.50 /m);
    }
    expect((await ask(['stats', path, '--of', 'tokens'])).stderr).toMatch(/no rollout here has tokens; numbers/);
  });

  test('a key that no rollout has is reported', async () => {
    const { code, stderr } = await ask(['stats', folder, '--by', 'nowhere']);
    expect(code).toBe(2);
    expect(stderr).toContain('--by: no rollout here has nowhere; numbers here: ');
  });

  test('nothing that matches is exit status 1', async () => {
    expect(await ask(['stats', folder, '--filter', 'score > 5'])).toMatchObject({ code: 1, stdout: '' });
  });
});

describe('stats --of', () => {
  const run = directoryWith({
    '1.jsonl': [1, 0, Number.NaN, 1].map((score) => verlLine({ score, acc: 0.5 }).replace('null', 'NaN')).join(''),
    '4.jsonl': [0.25].map((score) => verlLine({ score, step: 4 })).join(''),
  });
  const stats = async (...args: string[]) => ask(['stats', run, ...args]);

  test('shows the distribution of a number in each step, with every digit in JSON', async () => {
    const rows = jsonLines((await stats('--of', 'score,acc', '--json')).stdout);
    expect(
      rows.map(({ number, step, count, unknown, mean, median }) => [number, step, count, unknown, mean, median]),
    ).toEqual([
      ['score', 1, 3, 1, 2 / 3, 1],
      ['score', 4, 1, 0, 0.25, 0.25],
      ['acc', 1, 4, 0, 0.5, 0.5],
      ['acc', 4, 0, 1, null, null],
    ]);
  });

  test('--histogram counts values, and each bar lists its rollouts when it is asked as a filter', async () => {
    const bars = jsonLines((await stats('--of', 'score', '--histogram', '--json')).stdout);
    expect(bars.map(({ from, count }) => [from, count])).toEqual([
      [0, 1],
      [0.25, 1],
      [1, 2],
      [null, 1],
    ]);
    for (const { filter, count } of bars) {
      const { stdout } = await ask(['ls', run, '--json', '--filter', String(filter)]);
      expect(jsonLines(stdout), String(filter)).toHaveLength(Number(count));
    }
  });

  test('a number that nobody has is an error, and so is --histogram alone', async () => {
    const { code, stderr } = await stats('--of', 'nothing');
    expect(code).toBe(2);
    expect(stderr).toContain('--of: no rollout here has nothing; ');
    expect((await stats('--histogram')).code).toBe(2);
  });
});

test('stats --best says which rollouts it takes for separate prompts for lack of information', async () => {
  const stderrOf = async (prompts: readonly string[]) => {
    const lines = prompts.map((input, i) => verlLine({ input, output: `${i}`, score: i % 2 }));
    return (await ask(['stats', '--best', directoryWith({ '1.jsonl': lines.join('') })])).stderr;
  };
  expect(await stderrOf(['user\nq\nassistant\n', 'user\nq\nassistant\n'])).toContain('2 rollouts in no group');
  expect(await stderrOf(['a', 'a', 'b', 'b'].map((one) => `user\n${one}\nassistant\n`))).not.toContain('in no group');
});
