import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, directoryWith, jsonLines, verlLine } from '../../program.ts';

const scores = [1, 0, 0.5];
const dump = (keys: Record<string, unknown> = {}) => {
  const line = (step: number) =>
    scores.map((score, i) => verlLine({ score, step, output: `answer ${i}`, ...keys })).join('');
  const directory = directoryWith({ '1.jsonl': line(1), '2.jsonl': line(2) });
  return { directory, at: (line: number) => `${join(directory, '1.jsonl')}:${line}` };
};
const show = (...args: string[]) => ask(['show', ...args]);

describe('show takes', () => {
  test('a directory, a file, a filter', async () => {
    const { directory, at } = dump();
    const headings = async (...args: string[]) =>
      [...(await show(...args)).stdout.matchAll(/^==> (.*) <==$/gm)].map(([, name]) => name);
    expect(await headings(directory)).toHaveLength(6);
    expect(await headings(join(directory, '1.jsonl'))).toEqual([at(1), at(2), at(3)]);
    expect(await headings(directory, '--filter', 'score == 0.5 && step == 1')).toEqual([at(3)]);
    expect(await headings(directory, '--limit', '2')).toEqual([at(1), at(2)]);
    expect((await show(directory, '--filter', 'score > 9')).code).toBe(1);
  });

  test('one form at a time', async () => {
    const { at } = dump();
    const { code, stderr } = await show(at(1), '--csv', '--markdown');
    expect(code).toBe(2);
    expect(stderr).toContain('one form at a time');
  });

  test('what people said of it', async () => {
    const { directory, at } = dump();
    const journal = ['--journal', join(directory, '../labels')];
    await ask(['label', at(2), 'hack', '--rater', 'anna', '--note', 'sk-ip', ...journal]);
    const [json] = jsonLines((await show(at(2), '--json', ...journal)).stdout);
    expect(json!.labels).toMatchObject([{ rater: 'anna', label: 'hack', note: 'sk-ip' }]);
    expect((await show(at(2), ...journal)).stdout).toContain('[labels]\n\nanna: hack: sk-ip\n');
    expect((await show(at(2), '--markdown', ...journal)).stdout).toContain('- **label** anna: hack: sk-ip');
    const { stdout } = await show(
      directory,
      '--csv',
      '--columns',
      'sample,label,note',
      '--filter',
      'label == hack',
      ...journal,
    );
    expect(stdout).toBe('sample,label,note\n2,hack,anna: sk-ip\n');
  });
});

describe('--csv', () => {
  test('has the columns that are asked for, or those that there are, and the keys of the records', async () => {
    const { directory } = dump({ acc: 0.25, reward: { format: 1 } });
    const { stdout } = await show(join(directory, '1.jsonl'), '--csv');
    const [head, first, ...others] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    expect(others).toHaveLength(2);
    expect(head!.slice(0, 5)).toEqual(['locator', 'stream', 'step', 'sample', 'score']);
    const cell = (name: string) => first![head!.indexOf(name)];
    expect([cell('score'), cell('acc'), cell('reward.format'), cell('turns')]).toEqual(['1', '0.25', '1', '2']);
    expect((await show(directory, '--csv', '--columns', 'a b')).code).toBe(2);
  });

  test('a cell that a spreadsheet would run is text, a number stays one', async () => {
    const { directory } = dump({
      note: '=HYPERLINK("http://x";"y")',
      minus: -0.5,
      at: '@SUM(A1)',
      lines: 'a\nb',
      tab: '\t=1',
    });
    const { stdout } = await show(directory, '--csv', '--columns', 'extras.note,minus,at,lines,tab', '--limit', '1');
    expect(stdout).toBe(
      'extras.note,minus,at,lines,tab\n"\'=HYPERLINK(""http://x"";""y"")",-0.5,\'@SUM(A1),"a\nb",\'\t=1\n',
    );
  });
});

test('--jsonl is a dump again', async () => {
  const { directory } = dump();
  const { stdout } = await show(directory, '--jsonl', '--filter', 'score == 1');
  const again = directoryWith({ '1.jsonl': stdout });
  const rows = jsonLines((await ask(['ls', again, '--json'])).stdout);
  expect(rows.map(({ step, score }) => [step, score])).toEqual([
    [1, 1],
    [2, 1],
  ]);
});

describe('--redact', () => {
  const secret = `ghp_${'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'}`;
  const keys = {
    output: `I use ${secret}\n<tool_call>\n{"name": "f", "arguments": {"API_KEY": "abcdefgh", "n": 1}}\n</tool_call>`,
    config: { hf_token: 'plainwords', deep: [`Bearer ${'z9'.repeat(10)}`] },
    big: 12345678901234567890n,
  };
  const line = () => verlLine({ ...keys, big: 0 }).replace('"big":0', '"big":12345678901234567890');

  test.each(['--plain', '--json', '--jsonl', '--csv', '--markdown', '--html'])('masks them in %s', async (form) => {
    const path = join(directoryWith({ '1.jsonl': line() }), '1.jsonl');
    const args = form === '--html' ? [form, '-'] : [form];
    const { stdout, code } = await show(path, ...args, '--redact');
    expect(code).toBe(0);
    for (const one of [secret, 'abcdefgh', 'plainwords', 'z9z9z9']) expect(stdout).not.toContain(one);
  });

  test('what is left is read as before: turns, calls, digits', async () => {
    const path = join(directoryWith({ '1.jsonl': line() }), '1.jsonl');
    const { stdout } = await show(path, '--json', '--redact');
    expect(stdout).toContain('12345678901234567890');
    const [row] = jsonLines(stdout) as { turns: { text: string; tool_calls: { arguments: unknown }[] }[] }[];
    expect(row!.turns[1]!.text).toMatch(/^I use \*{40}\n/);
    expect(row!.turns[1]!.tool_calls[0]!.arguments).toEqual({ API_KEY: '********', n: 1 });
  });

  test('a line that is no JSON is masked too', async () => {
    const path = join(directoryWith({ '1.jsonl': `half a line with ${secret}\n` }), '1.jsonl');
    expect((await show(path, '--redact')).stdout).not.toContain(secret);
  });
});

describe('--html', () => {
  test('writes a page, writes its own again, and never writes over anything else', async () => {
    const { directory, at } = dump();
    const page = join(directory, '../page.html');
    expect((await show(directory, '--html', page, '--filter', 'step == 1')).code).toBe(0);
    const first = readFileSync(page, 'utf8');
    expect(first.match(/<article/g)).toHaveLength(3);
    expect((await show(at(1), '--html', page)).code).toBe(0);
    expect(readFileSync(page, 'utf8').match(/<article/g)).toHaveLength(1);
    const before = readFileSync(join(directory, '1.jsonl'), 'utf8');
    const { code, stderr } = await show(at(1), '--html', join(directory, '1.jsonl'));
    expect(code).toBe(2);
    expect(stderr).toContain('is not a page by this program');
    expect(readFileSync(join(directory, '1.jsonl'), 'utf8')).toBe(before);
  });

  test('its contents name findings as the list does', async () => {
    const output = (result: string) =>
      `<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>\nuser\n<tool_response>\n${result}\n</tool_response>\nassistant\nok`;
    const results = ['Error: timeout', 'Traceback (most recent call last):\nValueError: x', '3 hits'];
    const directory = directoryWith({ '1.jsonl': results.map((one) => verlLine({ output: output(one) })).join('') });
    const { stdout: list } = await ask(['ls', directory]);
    const words = ['search: timeout', 'search: exception'];
    expect(list.split('\n').flatMap((line) => /search: \w+/.exec(line)?.[0] ?? [])).toEqual(words);
    const { stdout: page } = await show(directory, '--html', '-');
    const contents = page.slice(page.indexOf('<nav'));
    expect([...contents.matchAll(/<td>([^<]+)<\/td><\/tr>/g)].map(([, text]) => text)).toEqual(words);
  });

  test('nothing is written where nothing matches, and a place that cannot be written is reported', async () => {
    const { directory, at } = dump();
    const page = join(directory, '../none.html');
    expect((await show(directory, '--html', page, '--filter', 'score > 9')).code).toBe(1);
    expect(existsSync(page)).toBe(false);
    writeFileSync(join(directory, '../file'), '');
    const { code, stderr } = await show(at(1), '--html', join(directory, '../file/page.html'));
    expect(code).toBe(2);
    expect(stderr).toContain('--html');
  });
});

describe('--html --compare', () => {
  test('two rollouts are side by side, with equal turns shown once and differences marked', async () => {
    const { directory, at } = dump();
    const page = join(directory, '../compare.html');
    expect((await show(at(1), at(2), '--html', page, '--compare')).code).toBe(0);
    const text = readFileSync(page, 'utf8');
    expect(text).toContain('The first turn is the same.');
    expect(text).toContain('answer <del>0</del>');
    expect(text).toContain('answer <ins>1</ins>');
    expect(text.match(/<article/g)).toHaveLength(3);
  });

  test('what differs is text, too', async () => {
    const directory = directoryWith({ '1.jsonl': verlLine({ output: '<b>x</b>' }) + verlLine({ output: '<i>x</i>' }) });
    const path = join(directory, '1.jsonl');
    const { stdout } = await show(`${path}:1`, `${path}:2`, '--html', '-', '--compare');
    expect(stdout).not.toMatch(/<b>x|<i>x/);
  });

  test('takes two rollouts and a page', async () => {
    const { directory, at } = dump();
    for (const args of [
      [at(1), '--html', '-'],
      [at(1), at(2)],
      [directory, at(1), '--html', '-'],
    ])
      expect((await show(...args, '--compare')).code).toBe(2);
  });
});

test('filters on values of a group choose as they do elsewhere', async () => {
  const members = (step: number) =>
    scores.map((score, i) => verlLine({ score, step, uid: `p${step}_0_${i}` })).join('');
  const directory = directoryWith({ '1.jsonl': members(1), '2.jsonl': members(2) });
  const { stdout } = await show(directory, '--filter', 'rank == 1', '--csv', '--columns', 'step,score');
  expect(stdout).toBe('step,score\n1,1\n2,1\n');
  const { stdout: listed } = await ask(['ls', directory, '--filter', 'rank == 1', '--json']);
  expect(jsonLines(listed).map(({ score }) => score)).toEqual([1, 1]);
});
