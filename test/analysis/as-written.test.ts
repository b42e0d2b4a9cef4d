import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asWritten } from '../../src/analysis/movement/said-changes.ts';

test.each([
  ['requests.exceptions.readtimeout', 'x\nrequests.exceptions.ReadTimeout: 30', 'requests.exceptions.ReadTimeout'],
  ['step 0', 'at Step 14, then step 15', 'Step 0'],
  ['grader accepts', 'The Grader\n accepts it', 'Grader accepts'],
  ['not there', 'something else', 'not there'],
])('%s keeps the capitals of its text', (phrase, text, written) => {
  expect(asWritten(phrase, text)).toBe(written);
});

test('it is the same phrase but for capitals, whatever the text', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (phrase, text) => {
      expect([phrase, phrase.toLowerCase()]).toContain(asWritten(phrase, text).toLowerCase());
    }),
  );
});
