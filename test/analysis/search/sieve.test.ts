import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sieveOf, sift } from '../../../src/analysis/search/sieve.ts';
import { matcher } from '../../../src/analysis/text-search.ts';

const passes = (pattern: string, line: string): boolean => {
  const sieve = sieveOf(pattern);
  if (sieve === null) return true;
  let holds = false;
  sift(Buffer.from(line), sieve, (at) => {
    holds = true;
    return at + 1;
  });
  return holds;
};
const finds = (pattern: string, text: string): boolean => {
  let holds = false;
  matcher(pattern).find(text, () => {
    holds = true;
    return false;
  });
  return holds;
};

test('no line with a hit is passed over, however its text is written or put together', () => {
  const piece = fc.constantFrom(
    'answer',
    'ANSWER',
    'skip it',
    'é',
    '个',
    '"',
    '\\',
    '\n',
    '\u001b',
    ' ',
    'x',
    '\u212a',
    'ſ',
  );
  const pattern = fc.constantFrom(
    'answer',
    'Answer',
    'answer it',
    '\\Vanswer',
    'an.*wer',
    'answers?',
    'x|answer',
    'kip it',
    'the answer+',
    'é answer',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pattern, fc.nat(), fc.boolean(), (pieces, wanted, cut, isAscii) => {
      const text = pieces.join('');
      if (!finds(wanted, text)) return;
      const at = text.length === 0 ? 0 : cut % (text.length + 1);
      const written = JSON.stringify({ a: text.slice(0, at), b: text.slice(at) });
      const ascii = written.replace(
        /[\u007f-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      expect(passes(wanted, isAscii ? ascii : written)).toBe(true);
    }),
    { numRuns: 3000 },
  );
});

test('a line without it is passed over', () => {
  expect(passes('no such thing', JSON.stringify({ a: 'such, no things' }))).toBe(false);
  expect(passes('elephants?', JSON.stringify({ a: 'nothing' }))).toBe(false);
  expect(sieveOf('(a|b)')).toBeNull();
});
