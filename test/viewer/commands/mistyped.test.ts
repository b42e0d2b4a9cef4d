import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mistyped } from '../../../src/viewer/commands/program.ts';
import { ask, directoryWith, verlLine } from '../../program.ts';

test.each([
  [['relpay', 'x'], 'did you mean `rollout-viewer replay`?'],
  [['rollot', 'tasks.jsonl', '--out', 'o'], 'did you mean `rollout-viewer rollout`?'],
  [['Show', 'a:1'], 'did you mean `rollout-viewer show`?'],
  [['nothing-like-it'], 'no such command; commands: ls, show, grep'],
])('%j is reported as neither path nor command', async (args, hint) => {
  const { code, stderr, stdout } = await ask(args, { cwd: directoryWith({}) });
  expect(stderr).toContain(`${args[0]}: no such file or directory, and no such command; `);
  expect(stderr).toContain(hint);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});

test('a directory of such a name is a path', async () => {
  const cwd = directoryWith({ 'relpay/1.jsonl': verlLine() });
  const { code, stdout } = await ask(['relpay'], { cwd });
  expect(stdout).toContain('relpay/1.jsonl:1');
  expect(code).toBe(0);
  mkdirSync(join(cwd, 'empty'));
  expect(mistyped('relpay/x', ['replay'])).toBeNull();
  expect(mistyped('1.jsonl', ['replay'])).toBeNull();
});
