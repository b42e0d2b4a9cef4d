import { expect, test } from 'vitest';
import { markdownRanges, stretches } from '../../../src/viewer/present/transcript/markdown.ts';

const shown = (text: string) =>
  stretches(text).map(({ start, end, isCode, code }) => [isCode ? (code ?? 'code') : 'prose', text.slice(start, end)]);

test('code between fences stays as it is, and nothing is lost', () => {
  const text = 'Look:\n```python\nprint(1)\n```\nand\n~~~\nx\n~~~\n';
  expect(shown(text)).toEqual([
    ['prose', 'Look:\n```python\n'],
    ['python', 'print(1)\n'],
    ['prose', '```\nand\n~~~\n'],
    ['code', 'x\n'],
    ['prose', '~~~\n'],
  ]);
  expect(
    stretches(text)
      .map(({ start, end }) => text.slice(start, end))
      .join(''),
  ).toBe(text);
});

test('code that is never closed reaches to the end; a fence within a line does not count', () => {
  expect(shown('```js\nlet x;')).toEqual([
    ['prose', '```js\n'],
    ['javascript', 'let x;'],
  ]);
  expect(shown('a ```b``` c')).toEqual([['prose', 'a ```b``` c']]);
});

test('headings, bold words and code in a line have their styles; LaTeX is left as it is', () => {
  const text = '## Step 1\nIt is **five**, see `x`.\n\\[ a_1 * b * c ** d \\]';
  expect(markdownRanges(text).map(({ start, end, style }) => [text.slice(start, end), style])).toEqual([
    ['## ', 'quiet'],
    ['Step 1', 'heading'],
    ['**', 'quiet'],
    ['five', 'strong'],
    ['**', 'quiet'],
    ['`', 'quiet'],
    ['x', 'string'],
    ['`', 'quiet'],
  ]);
});

test('a long hostile text is read in a time that grows with it', () => {
  expect(markdownRanges('**a'.repeat(50_000)).length).toBeGreaterThan(0);
  expect(stretches('```\n'.repeat(50_000)).length).toBeLessThan(300);
});
