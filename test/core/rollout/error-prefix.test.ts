import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ERROR_WORDS, errorPrefix } from '../../../src/core/rollout/error-prefix.ts';

const whole = new RegExp(
  String.raw`^\s*(?:\[rank ?\d+\]: )?(?:[\w.-]{1,20}: (?=error ))?(?:${ERROR_WORDS.source})+`,
  'i',
);

test.each([
  ['[rank0]: bash: error executing tool: no', '[rank0]: bash: error executing tool: '],
  [' ⚠️ Tool error: Runtime Error: timed out', ' ⚠️ Tool error: Runtime Error: '],
  ['error: error Foo', 'error: error '],
  ['<tool_use_error> x', '<tool_use_error> '],
  ['npm ERR! code', 'npm ERR! '],
  ['no error: fine', null],
  ['', null],
])('%j is marked by %j', (text, prefix) => {
  expect(errorPrefix(text)).toBe(prefix);
});

test('word by word is what one pattern for all of them finds', () => {
  const words = ERROR_WORDS.source.match(/[A-Za-z_]{2,}/g) ?? [];
  const piece = fc.oneof(
    fc.constantFrom(...words, ...words.map((word) => word.toUpperCase())),
    fc.constantFrom(
      'error',
      ': ',
      ' ',
      ':',
      '：',
      '-',
      ']',
      '>',
      '**',
      '[',
      '<',
      '❌ ',
      '⚠️',
      '\n',
      '(',
      ')',
      '"',
      '404',
    ),
    fc.constantFrom(
      '[rank0]: ',
      '[rank 1]: ',
      'a.out: ',
      'ERR!',
      'x',
      'error response from daemon',
      'error 404: ',
      'ſ',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
      for (const text of [pieces.join(''), pieces.join(' ')])
        expect(errorPrefix(text)).toBe(whole.exec(text)?.[0] ?? null);
    }),
    { numRuns: 5000 },
  );
});
