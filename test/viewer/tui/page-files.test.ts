// Changed files, files as they were, and their differences, on the screen.
import { afterEach, expect, test } from 'vitest';
import { MONO } from '../../../src/viewer/present/theme.ts';
import { copyOf } from '../../../src/viewer/tui/update/copied.ts';
import { pageView } from '../../../src/viewer/tui/views/panes.ts';
import { TestScreen } from '../../support/screen.ts';

let screen: TestScreen;
afterEach(() => screen.close());

const call = (id: string, args: object) => ({
  role: 'assistant',
  content: null,
  tool_calls: [
    {
      id,
      type: 'function',
      function: { name: 'str_replace_editor', arguments: JSON.stringify({ path: '/w/a.py', ...args }) },
    },
  ],
});
const answer = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });

const messages = [
  { role: 'user', content: 'go' },
  call('1', { command: 'create', file_text: 'one\n\x1b[31mtwo\n' }),
  answer('1', 'File created successfully at: /w/a.py'),
  call('2', { command: 'str_replace', old_str: 'one', new_str: 'ONE' }),
  answer('2', 'The file /w/a.py has been edited.'),
];

const lines = (): string[] =>
  pageView({ state: screen.state, data: screen.data, theme: MONO, name: '' }, 120, 18).map((line) =>
    line.replace(/\x1b\[[\d;]*m/g, ''),
  );

const open = async () => {
  screen = await TestScreen.open({ '1.jsonl': [{ messages }] }, 120, 20);
  screen.do({ type: 'page-files' });
};

test('each change is in a row; Enter reads the file as it was then, with the turn that wrote each line', async () => {
  await open();
  expect(lines()[0]).toMatch(/what calls changed in .*2 changes/);
  expect(lines()[3]).toMatch(/t1 +\/w\/a\.py +\+2 +−0 +certain/);
  screen.do({ type: 'bottom', line: null });
  expect(lines()[4]).toMatch(/^› +t3 +\/w\/a\.py +\+1 +−1 +certain/);
  screen.do({ type: 'open' });
  expect(lines()[0]).toMatch(/\/w\/a\.py after t3 .* certain/);
  expect(lines()[3]).toMatch(/t3 +1 +ONE/);
  expect(lines()[4]).toMatch(/t1 +2 +.*two/);
  expect(lines().join('')).not.toContain('\x1b[31m');
  screen.do({ type: 'page-switch' });
  expect(lines()[0]).toMatch(/after t1/);
});

test('the difference of a change, of each file, and of all of them as a patch', async () => {
  await open();
  screen.do({ type: 'bottom', line: null }, { type: 'page-switch' });
  expect(lines().join('\n')).toMatch(/-one\s+\+ONE/);
  screen.do({ type: 'back' }, { type: 'page-numbers' });
  expect(lines()[0]).toMatch(/the files of .*1 file/);
  screen.do({ type: 'page-numbers' });
  expect(lines().join('\n')).toMatch(/\+ONE/);
  const copied = copyOf(screen.state, screen.data, 'patch');
  expect(copied).toMatchObject({ text: expect.stringMatching(/^diff --git a\/w\/a\.py b\/w\/a\.py\n--- \/dev\/null/) });
});
