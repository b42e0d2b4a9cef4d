// The editor of the screen as a value: what keys make of a text.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Buffer, EditorState } from '../../../src/viewer/tui/state/editor.ts';
import * as edit from '../../../src/viewer/tui/update/editor-buffer.ts';
import { bufferOf, editorText } from '../../../src/viewer/tui/update/editor-buffer.ts';
import { editorKey } from '../../../src/viewer/tui/update/editor-keys.ts';
import { cursorOf, editorRows, moveRows } from '../../../src/viewer/tui/update/editor-rows.ts';

const WIDTH = 20;

const opened = (text: string): EditorState => ({
  subject: { kind: 'turn', place: null as never, turn: 0 },
  title: '',
  original: text,
  buffer: bufferOf(text),
  goal: null,
  past: [],
  future: [],
  lastKind: 'move',
  isLeaving: false,
  problem: null,
});

const press = (state: EditorState, ...keys: string[]): EditorState =>
  keys.reduce((now, key) => {
    const text = key.length === 1 || key.includes('\n') ? key : '';
    const name = key === ' ' ? 'space' : key.includes('\n') ? 'paste' : key;
    return editorKey(now, name, text, editorRows(now.buffer.lines, WIDTH), 5);
  }, state);

const textAfter = (text: string, ...keys: string[]): string => editorText(press(opened(text), ...keys).buffer);

describe('keys', () => {
  test.each<[string, string[], string]>([
    ['a', ['end', 'enter', 'b'], 'a\nb'],
    ['    x', ['end', 'enter', 'y'], '    x\n    y'],
    ['if x:', ['end', 'enter', 'y'], 'if x:\n    y'],
    ['ab\ncd', ['down', 'home', 'backspace'], 'abcd'],
    ['ab\ncd', ['end', 'delete'], 'abcd'],
    ['ab\ncd', ['ctrl+k', 'ctrl+k'], 'cd'],
    ['one two', ['end', 'ctrl+w'], 'one '],
    ['one two', ['end', 'ctrl+u'], ''],
    ['x', ['tab'], '    x'],
    ['        x', ['shift+tab'], '    x'],
    ['        x', ['end', 'left', 'backspace'], '    x'],
    ['     x', ['end', 'left', 'backspace'], '    x'],
    ['      x', ['end', 'left', 'backspace'], '     x'],
    ['e\u0301💡', ['end', 'backspace'], 'e\u0301'],
    ['e\u0301💡', ['end', 'backspace', 'backspace'], ''],
    ['ab', ['end', 'c', 'd', 'ctrl+_'], 'ab'],
    ['ab', ['end', 'c', 'left', 'd', 'ctrl+_'], 'abc'],
    ['ab', ['end', 'c', 'ctrl+_', 'ctrl+y'], 'abc'],
    ['ab', ['right', 'x\ny'], 'ax\nyb'],
  ])('%j, %j → %j', (text, keys, after) => expect(textAfter(text, ...keys)).toBe(after));
});

const line = fc.string({
  unit: fc.constantFrom('a', ' ', '\t', 'ä', '漢', '💡', 'e\u0301', '\x1b', ':'),
  maxLength: 50,
});
const text = fc.array(line, { minLength: 1, maxLength: 6 }).map((lines) => lines.join('\n'));
const key = fc.constantFrom(
  ...[
    'left',
    'right',
    'up',
    'down',
    'home',
    'end',
    'ctrl+left',
    'ctrl+right',
    'ctrl+home',
    'ctrl+end',
    'pageup',
    'pagedown',
  ],
  ...[
    'enter',
    'tab',
    'shift+tab',
    'backspace',
    'delete',
    'ctrl+k',
    'ctrl+u',
    'ctrl+w',
    'x',
    '漢',
    ' ',
    'p\nq',
    'f9',
    'alt+x',
  ],
);

/** A cursor that is in the text, and parts no character. */
function expectCursor({ lines, row, column }: Buffer): void {
  expect(row).toBeGreaterThanOrEqual(0);
  expect(row).toBeLessThan(lines.length);
  expect(column).toBeGreaterThanOrEqual(0);
  expect(column).toBeLessThanOrEqual(lines[row]!.length);
  expect(lines[row]!.slice(column)).not.toMatch(/^[\udc00-\udfff]/);
}

describe('whatever is pressed', () => {
  test('the cursor is in the text, rows cover it, and undoing gives it back', () => {
    fc.assert(
      fc.property(text, fc.array(key, { maxLength: 30 }), (start, keys) => {
        let state = opened(start);
        for (const one of keys) {
          state = press(state, one);
          expectCursor(state.buffer);
          const rows = editorRows(state.buffer.lines, WIDTH);
          expect(rows.map((row) => state.buffer.lines[row.line]!.slice(row.start, row.end)).join('')).toBe(
            state.buffer.lines.join(''),
          );
          expect(cursorOf(rows, state.buffer).cell).toBeLessThan(WIDTH);
        }
        for (let i = 0; i <= keys.length; i++) state = press(state, 'ctrl+_');
        expect(editorText(state.buffer)).toBe(start);
        for (let i = 0; i <= keys.length; i++) state = press(state, 'ctrl+y');
        expectCursor(state.buffer);
      }),
    );
  });

  test('right goes through the whole text, left comes back, and down reaches its end', () => {
    fc.assert(
      fc.property(text, (start) => {
        let buffer = bufferOf(start);
        for (let i = 0; i <= start.length; i++) buffer = edit.right(buffer);
        expect(buffer).toEqual(edit.textEnd(buffer));
        for (let i = 0; i <= start.length; i++) buffer = edit.left(buffer);
        expect(buffer).toEqual(edit.textStart(buffer));
        const rows = editorRows(buffer.lines, WIDTH);
        const down = moveRows(buffer, rows, rows.length, 0);
        expect(cursorOf(rows, down).row).toBe(rows.length - 1);
      }),
    );
  });
});
