import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finished } from '../../../src/core/async/finished.ts';
import { indenting } from '../../../src/viewer/tui/pages/compare.ts';

test('a text indented in pieces is the text indented at once', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '\r', '\u2028'), maxLength: 30 });
  fc.assert(
    fc.property(text, fc.integer({ min: 0, max: 8 }), (drawn, share) => {
      expect(finished(indenting(drawn, '  ', share))).toBe(drawn.replace(/^/gm, '  '));
    }),
  );
});
