import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, directoryWith, jsonLines } from '../../program.ts';

const CALL = '<tool_call>\n{"name": "code_interpreter", "arguments": {"code": "print(2+2)"}}\n</tool_call>';

const line = (replies: readonly { role: string; content: string }[]): string =>
  `${JSON.stringify({
    messages: [{ role: 'user', content: 'What is 2+2?' }, ...replies],
    ground_truth: '4',
    data_source: 'openai/gsm8k',
    score: 0,
  })}\n`;

const DUMP =
  line([{ role: 'assistant', content: '#### 5' }]) +
  line([
    { role: 'assistant', content: CALL },
    { role: 'tool', content: '4\n' },
    { role: 'assistant', content: '#### 5' },
  ]);

test('a rewritten turn is a branch with its author, which --verified takes after its calls and its score', async () => {
  const cwd = directoryWith({ '1.jsonl': DUMP, new: '#### 4' });
  const env = { XDG_STATE_HOME: join(cwd, 'state') };
  const go = (...args: string[]) => ask(args, { cwd, env });
  const exported = async (out: string, ...more: string[]) => {
    const { stdout, stderr } = await go('export', 'mended', '--to', 'messages', '--inferred', '--out', out, ...more);
    return stdout + stderr;
  };
  const edit = (locator: string, turn: string) =>
    go('set', 'mended', 'edit', locator, '--turn', turn, '--text', 'new', '--rater', 'ann');
  expect((await edit('1.jsonl:1', '1')).code).toBe(0);
  expect((await edit('1.jsonl:2', '3')).code).toBe(0);
  expect(readFileSync(join(cwd, '1.jsonl'), 'utf8')).toBe(DUMP);
  const members = jsonLines((await go('set', 'mended', 'show', '--json')).stdout);
  expect(members).toMatchObject([
    { by: 'ann', state: 'same' },
    { by: 'ann', state: 'same' },
  ]);

  expect(await exported('a.jsonl')).toContain('edited by a person and not verified: 2');
  const [first] = jsonLines(readFileSync(join(cwd, 'a.jsonl'), 'utf8'));
  expect(first).toMatchObject({ messages: [{ role: 'user' }, { role: 'assistant', content: '#### 4' }], score: null });
  const calls = readFileSync(join(cwd, 'a.jsonl'), 'utf8').match(/code_interpreter/g);
  expect(calls?.length).toBeGreaterThan(0);
  const card = JSON.parse(readFileSync(join(cwd, 'a.jsonl.card.json'), 'utf8'));
  expect(card).toMatchObject({ edits: 2, unverified_edits: 2 });
  expect(await exported('b.jsonl', '--verified')).toContain('2 left out: edited and not verified');

  // Both get a score, but the call of one has not been run again.
  for (const { locator } of members) await go('rescore', String(locator).replace(/:1$/, ''));
  expect(await exported('c.jsonl', '--verified')).toContain('left out: 1 (edited and not verified)');
  expect(jsonLines(readFileSync(join(cwd, 'c.jsonl'), 'utf8'))).toMatchObject([{ score: 1 }]);
});

test('an edit that cannot be made says why, and adds nothing', async () => {
  const cwd = directoryWith({ '1.jsonl': DUMP });
  writeFileSync(join(cwd, 'same'), '#### 5');
  const env = { XDG_STATE_HOME: join(cwd, 'state') };
  const edit = (...args: string[]) => ask(['set', 's', 'edit', ...args], { cwd, env });
  for (const [args, says] of [
    [['1.jsonl:1', '--turn', '1', '--text', 'same'], 'nothing was changed'],
    [['1.jsonl:1', '--turn', '7', '--text', 'same'], 'this rollout has 2 turns'],
    [['1.jsonl:1', '--text', 'same'], 'name one rollout and one turn'],
    [['1.jsonl:1', '--turn', '1', '--text', 'absent'], 'absent'],
  ] as const) {
    const { code, stderr } = await edit(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  }
  expect((await ask(['set', 's', 'show'], { cwd, env })).stdout).toBe('');
});
