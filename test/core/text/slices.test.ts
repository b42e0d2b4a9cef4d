import { expect, test } from 'vitest';
import { finished } from '../../../src/core/async/finished.ts';
import { including, TEXT_SLICE } from '../../../src/core/text/slices.ts';

test('words are found wherever a long text is cut into slices, and nowhere else', () => {
  for (const sought of ['pad', 'p', '']) {
    for (const at of [0, TEXT_SLICE - 3, TEXT_SLICE - 2, TEXT_SLICE - 1, TEXT_SLICE, TEXT_SLICE + 1, 2 * TEXT_SLICE]) {
      const text = `${'a'.repeat(at)}${sought}${'a'.repeat(9)}`;
      expect(finished(including(text, sought))).toBe(true);
      expect(finished(including(text.replace('p', 'q'), 'pad'))).toBe(false);
    }
  }
  expect(finished(including('', 'pad'))).toBe(false);
});
