import { expect, test } from 'vitest';
import type { Block } from '../../../src/viewer/present/transcript/block.ts';
import { syntaxRanges } from '../../../src/viewer/present/transcript/grammars.ts';
import { languageOf, MAX_CODE, Syntax } from '../../../src/viewer/present/transcript/syntax.ts';

const styles = (code: string, language: Parameters<typeof syntaxRanges>[0]) =>
  syntaxRanges(language, code).map(({ start, end, style }) => [code.slice(start, end), style]);

test('keywords, strings, numbers and comments are distinguished', () => {
  expect(styles('return "a" + 1  # why', 'python')).toEqual([
    ['return', 'key'],
    ['"a"', 'string'],
    ['1', 'number'],
    ['# why', 'quiet'],
  ]);
  expect(styles('{"a": true}', 'json')).toEqual([
    ['"a"', 'key'],
    ['true', 'key'],
  ]);
});

test('the language is what the call says, else what its names say', () => {
  expect(languageOf('run_code', 'code', { language: 'C++' })).toBe('cpp');
  expect(languageOf('run_code', 'code', { language: 'haskell' })).toBe(null);
  expect(languageOf('code_interpreter', 'code', {})).toBe('python');
  expect(languageOf('bash', 'command', {})).toBe('bash');
  expect(languageOf('execute_bash', 'code', {})).toBe('bash');
  expect(languageOf('search', 'query', {})).toBe(null);
});

const block = (text: string): Block => ({
  id: 't0.0',
  turn: 0,
  text,
  style: 'plain',
  trained: true,
  indent: 2,
  code: 'python',
});

test('colours come after the frame that asked, for equal text at once, and for long text never', async () => {
  let coloured = () => {};
  const done = new Promise<void>((resolve) => {
    coloured = resolve;
  });
  const syntax = new Syntax(() => coloured());
  expect(syntax.ranges(block('return 1'))).toEqual([]);
  syntax.work();
  await done;
  expect(syntax.ranges(block('return 1'))).toHaveLength(2);
  expect(syntax.ranges(block('1\n'.repeat(MAX_CODE)))).toEqual([]);
});
