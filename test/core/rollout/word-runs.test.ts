import fc from 'fast-check';
import { expect, test } from 'vitest';
import { junkIn, wordRuns } from '../../../src/core/rollout/task-signs.ts';

const RUN = /(?:[A-Za-z]{2,30}[ \t,.]{1,3}){40,}/g;

const letters = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'Z', 'm'), minLength, maxLength });
const separators = fc.constantFrom(' ', ', ', '. ', '\t', ' , ', '    ');
const usual = fc.tuple(letters(2, 6), fc.constantFrom(' ', ', ')).map((pair) => pair.join(''));
const odd = fc.oneof(
  fc.tuple(fc.oneof(letters(1, 1), letters(28, 33)), separators).map((pair) => pair.join('')),
  fc.constantFrom('é', '1', ':', '\n', '', 'end'),
);
const texts = fc
  .array(fc.oneof({ arbitrary: usual, weight: 40 }, { arbitrary: odd, weight: 1 }), { minLength: 60, maxLength: 300 })
  .map((words) => words.join(''));

test('runs of words are those that a regex finds', () => {
  let found = 0;
  fc.assert(
    fc.property(texts, (text) => {
      const runs = [...wordRuns(text)];
      found += runs.length;
      expect(runs).toEqual(text.match(RUN) ?? []);
    }),
    { numRuns: 500 },
  );
  expect(found).toBeGreaterThan(100);
});

const COMMON = /\b(?:the|and)\b/i;
const HALF = 20;

/** All words of a run at once, as a reader would count them. */
function plainJunk(text: string): string | null {
  for (const run of wordRuns(text)) {
    const words = run.split(/[ \t,.]+/).filter((word) => word !== '');
    for (let at = 0; at + 2 * HALF <= words.length; at += HALF) {
      const some = words.slice(at, at + 2 * HALF);
      if (!COMMON.test(some.join(' ')) && new Set(some).size >= 1.6 * HALF) return some.slice(0, 8).join(' ');
    }
  }
  return null;
}

test('words without a sentence are found in whichever part of a run they are', () => {
  const rare = fc.nat({ max: 25 ** 3 - 1 }).map((n) => {
    const letter = (at: number) => String.fromCharCode(98 + (Math.floor(n / 25 ** at) % 25));
    return `q${letter(0)}${letter(1)}${letter(2)} `;
  });
  const prose = fc.constantFrom('the ', 'and, ', 'words. ');
  const part = fc.oneof(
    fc.array(prose, { maxLength: 60, size: 'max' }),
    fc.array(rare, { maxLength: 70, size: 'max' }),
    fc.array(fc.oneof({ arbitrary: rare, weight: 12 }, { arbitrary: prose, weight: 1 }), {
      maxLength: 60,
      size: 'max',
    }),
  );
  let found = 0;
  fc.assert(
    fc.property(fc.array(part, { minLength: 2, maxLength: 6 }), (parts) => {
      const text = 'the words and '.repeat(80) + parts.flat().join('');
      const junk = junkIn(text);
      if (junk !== null) found++;
      expect(junk).toBe(plainJunk(text));
    }),
    { numRuns: 400 },
  );
  expect(found).toBeGreaterThan(20);
});
