import { expect, test } from 'vitest';
import { placeOfQuote } from '../../../src/core/text/quotes.ts';

const text = 'She pays  $220,000.\nShe pays nothing. The total\n\n is 54600.0 .';

test.each([
  ['$220,000', '$220,000'],
  ['total is 54600.0', 'total\n\n is 54600.0'],
  ['  pays $220,000.  ', 'pays  $220,000.'],
  ['She pays nothing', 'She pays nothing'],
])('%s is there once', (quote, words) => {
  const place = placeOfQuote(text, quote)!;
  expect(text.slice(place.start, place.end)).toBe(words);
});

test.each(['She pays', '', '   ', '$999', 'she pays nothing', '54600.0 . and more'])('%j proves nothing', (quote) => {
  expect(placeOfQuote(text, quote)).toBeNull();
});
