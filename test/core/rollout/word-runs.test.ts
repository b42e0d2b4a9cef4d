import fc from 'fast-check';
import { expect, test } from 'vitest';
import { wordRuns } from '../../../src/core/rollout/task-signs.ts';

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
