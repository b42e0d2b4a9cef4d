import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvCell } from '../../../src/viewer/present/text-table.ts';

/** The rule without its short way for ordinary cells. */
function plainCell(cell: string): string {
  const isNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(cell) || cell === '-inf';
  const safe = /^[=+\-@\t\r]/.test(cell) && !isNumber ? `'${cell}` : cell;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

it('a cell of CSV is a number or a word as it is, and anything else by the rule', () => {
  const cell = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', '.', 'a', '_', '1', 'é', ' ') }),
    fc.double().map(String),
  );
  fc.assert(
    fc.property(cell, (text) => {
      expect(csvCell(text)).toBe(plainCell(text));
    }),
  );
});
