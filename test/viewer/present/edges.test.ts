import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type TextEdges, thought, trimmed, withoutEnd } from '../../../src/viewer/present/transcript/edges.ts';

/** The plain way: the text itself, without offsets. */
const plainTrim = (text: string): string => text.replace(/^\n+/, '').trimEnd();

test.each<[TextEdges, (text: string) => string]>([
  [trimmed, plainTrim],
  [thought, (text) => plainTrim(text.replace(/^<think>|<\/think>\s*$/g, ''))],
  [withoutEnd, (text) => text.trimEnd()],
])('the edges of a text are where cutting it would leave them (%#)', (edges, plain) => {
  const part = fc.constantFrom('<think>', '</think>', '\n', ' ', '\t', 'a', '</th', '\u00a0');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      expect(text.slice(...edges(text))).toBe(plain(text));
    }),
    { numRuns: 1000 },
  );
});
