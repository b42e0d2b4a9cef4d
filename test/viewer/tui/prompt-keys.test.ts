import { expect, test } from 'vitest';
import { decodeKeys } from '../../../src/viewer/tui/screen/keys.ts';
import { PromptKeys } from '../../../src/viewer/tui/shell/prompt-keys.ts';

/** A prompt whose field does what ink-text-input does with text, arrows and Backspace. */
async function typed(first: string, bytes: string): Promise<{ value: string; cursor: number; passed: string[] }> {
  const prompt = { value: first, seed: 1, cursor: first.length };
  let field = first.length;
  const passed: string[] = [];
  const keys = new PromptKeys({
    prompt: () => prompt,
    act: (action) => {
      if (action.type === 'prompt-edit') {
        Object.assign(prompt, { value: action.value, cursor: action.cursor, seed: prompt.seed + 1 });
        field = action.cursor;
      } else passed.push(action.type);
    },
    type: async (sent) => {
      const { value } = prompt;
      if (sent === '\x1b[D') field--;
      else if (sent === '\x1b[C') field++;
      else if (sent === '\x7f') {
        prompt.value = value.slice(0, field - 1) + value.slice(field);
        field--;
      } else {
        prompt.value = value.slice(0, field) + sent + value.slice(field);
        field += sent.length;
      }
    },
    pass: (key) => passed.push(key.name),
  });
  keys.feed(decodeKeys(bytes, true).keys);
  while (keys.isBusy) await new Promise((resolve) => setImmediate(resolve));
  return { value: prompt.value, cursor: field, passed };
}

const LEFT = '\x1b[D';
const RIGHT = '\x1b[C';
const DELETE = '\x1b[3~';
const HOME = '\x1b[H';

test.each([
  ['text and arrows', 'ab', `${LEFT}x`, 'axb'],
  ['^a and ^k', 'one two', '\x01\x0b', ''],
  ['^a and Del', 'one', `\x01${DELETE}`, 'ne'],
  ['Del takes a whole surrogate pair', 'a💡b', `${HOME}${RIGHT}${DELETE}`, 'ab'],
  ['Backspace takes a whole surrogate pair', 'a💡', '\x7f', 'a'],
  ['Backspace takes a letter with its mark', 'xe\u0301', '\x7f', 'x'],
  ['an arrow passes a whole surrogate pair', 'a💡', `${LEFT}x`, 'ax💡'],
  ['four blanks are four characters', '    ', '\x7f', '   '],
  ['^w takes a word up to a blank', 'step 1.jsonl:5', '\x17', 'step '],
  ['^u takes what is before the cursor', 'abc', `${LEFT}\x15`, 'c'],
  ['alt+d takes the next word', 'one two', '\x01\x1bd', ' two'],
  ['alt+b goes a word back', 'one two', '\x1bbX', 'one Xtwo'],
  ['an arrow at an end does nothing', 'a', `${RIGHT}${RIGHT}b`, 'ab'],
  ['a paste is one line without controls', '', '\x1b[200~one\r\n  two\x07\x1b[201~', 'one two␇'],
  ['keys that no line has do nothing', 'ab', '\x1b[15~', 'ab'],
])('%s', async (_name, first, bytes, value) => {
  expect((await typed(first, bytes)).value).toBe(value);
});

test('the cursor is where the field has it', async () => {
  expect(await typed('one two', '\x01\x1bf')).toMatchObject({ value: 'one two', cursor: 3 });
  expect(await typed('a💡b', LEFT + LEFT)).toMatchObject({ cursor: 1 });
});

test('Enter, Esc, Tab and the arrows ask for what they mean, Backspace in nothing closes', async () => {
  expect((await typed('', '\r\t\x1b[Z\x1b[A\x1b[B\x7f')).passed).toEqual([
    'prompt-submit',
    'prompt-complete',
    'prompt-complete',
    'prompt-move',
    'prompt-move',
    'prompt-close',
  ]);
});
