import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bareAnswer } from '../../../src/core/rollout/answer-forms.ts';

test('a whole number is compared as it is, as all rules together would leave it', () => {
  // The blank behind it keeps the short way from being taken.
  fc.assert(
    fc.property(fc.stringMatching(/^-?[0-9]{1,24}$/), (number) => {
      expect(bareAnswer(number)).toBe(bareAnswer(`${number} `));
      expect(bareAnswer(number)).toBe(number);
    }),
  );
});
