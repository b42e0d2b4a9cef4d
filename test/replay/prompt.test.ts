import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { CallSession, planCalls, ReplayTools } from '../../src/replay/index.ts';
import { isWhole, promptAt } from '../../src/viewer/tui/runner/python-prompt.ts';
import { backend, callLine, closeBackend, madeLine, rowsOf } from './fixture.ts';

afterAll(closeBackend);

async function asked(session: CallSession, ...lines: string[]): Promise<string> {
  const output = new PassThrough();
  const said = text(output);
  await promptAt(session, { input: Readable.from(lines.map((line) => `${line}\n`)), output });
  output.end();
  return said;
}

test('a prompt is at the state before a call, shows what is printed and values, and leaves nothing behind', async () => {
  const { rows } = await rowsOf([await madeLine(['data = [1, 2, 3]', 'data.append(4)\nprint(data)'])]);
  const [, plan] = planCalls(rows[0]!, { tools: new ReplayTools(), session: true });
  const session = new CallSession(plan!, await backend());
  const said = await asked(
    session,
    'data',
    'twice = [2 * x for x in data]',
    'for x in twice:',
    '    print(x)',
    '',
    '%run',
  );
  expect(said).toContain('after call 0');
  expect(said).toContain('[1, 2, 3]\n2\n4\n6\n[1, 2, 3, 4]\n');
  // Another prompt knows nothing of it.
  expect(await asked(new CallSession(plan!, await backend()), 'twice')).toContain("NameError: name 'twice'");
});

test('a line that fails is not kept, and a call that runs no Python has no prompt', async () => {
  const { rows } = await rowsOf([
    callLine('code_interpreter', { code: 'print(1)' }, '1'),
    callLine('bash', { cmd: 'ls' }, ''),
  ]);
  const tools = new ReplayTools({ mapped: { bash: 'bash' } });
  const [python, bash] = rows.map((row) => planCalls(row, { tools })[0]!);
  const said = await asked(new CallSession(python!, await backend()), 'x = 1', '1 / 0', 'x + 41', '%call');
  expect(said).toContain('ZeroDivisionError');
  expect(said).toContain('42\nprint(1)\n');
  const sandbox = await backend();
  expect(() => new CallSession(bash!, sandbox)).toThrow('a prompt needs Python');
});

test.each([
  [['x = 1'], true],
  [['for x in y:'], false],
  [['for x in y:', '    print(x)'], false],
  [['for x in y:', '    print(x)', ''], true],
  [['f(1,'], false],
  [['f(1,', '2)'], true],
  [['x = "(["'], true],
  [['x = 1 + \\'], false],
  [['@cached'], false],
])('%j is a whole statement: %s', (lines, whole) => {
  expect(isWhole(lines)).toBe(whole);
});
