import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DECLINES, refusalIn, TASK } from '../../../src/core/rollout/refusal.ts';

const whole = new RegExp(`${DECLINES.source.replace(/\)$/, '')}${TASK.source})`, 'i');

test.each([
  ["Well. I can't help with that. Ask somebody.", "I can't help with that"],
  ['so I am unable to provide the answers', 'I am unable to provide the answers'],
  ['I cannot find it, I won’t be able to solve this', 'I won’t be able to solve this'],
  ["I can't help but wonder", null],
  ['I can do this', null],
])('%j refuses with %j', (text, refusal) => {
  expect(refusalIn(text)).toBe(refusal);
});

test('two patterns, one behind the other, find what one for both finds', () => {
  const words = `${DECLINES.source} ${TASK.source}`.match(/[A-Za-z'’]{2,}/g) ?? [];
  const piece = fc.oneof(
    fc.constantFrom(...words),
    fc.constantFrom('I', "I can't", 'I am not able to', ' be able to', 'help', 'solve this', 'or', 'to', 'but', 'so'),
    fc.constantFrom('.', ',', '\n', ' ', 'x', 'I cannot ', 'do not have the means to'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      for (const text of [pieces.join(' '), pieces.join('')])
        expect(refusalIn(text)).toBe(whole.exec(text)?.[1] ?? null);
    }),
    { numRuns: 5000 },
  );
});
