import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promptWithin } from '../../src/replay/agents/agent-run.ts';

const plain = (text: string): string => text;
const quoted = (text: string): string => text.replaceAll('"', '\\"');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

test('a prompt that was put into a text is found by what the agent makes of that text', () => {
  const text = fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', ' ', '"', '\n', '\\', '日') });
  fc.assert(
    fc.property(fc.constantFrom(plain, quoted, json), text, text, text, (write, before, prompt, after) => {
      fc.pre(before !== '' || after !== '');
      const within = (one: string): string => before + write(one) + after;
      const recorded = within(prompt);
      const found = promptWithin(recorded, within(recorded));
      // Backslashes of a shell's quotation are ambiguous; what is found must give the same text.
      if (write !== quoted || !prompt.includes('\\')) expect(found).not.toBeNull();
      if (found !== null) expect([plain, quoted, json].map((one) => before + one(found) + after)).toContain(recorded);
    }),
  );
});

test.each([
  ['make a file', '"make a file"'],
  ['Solve this: x', 'Solve that: Solve this: x'],
  ['"a"', 'something else'],
  ['"a"', '"a"'],
  ['', '""'],
])('%j is not the prompt in %j', (recorded, asked) => {
  expect(promptWithin(recorded, asked)).toBeNull();
});
