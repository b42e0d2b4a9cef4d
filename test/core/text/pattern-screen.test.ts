import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ERROR_CAUSES } from '../../../src/core/rollout/error-causes.ts';
import { ERROR_PATTERNS } from '../../../src/core/rollout/error-patterns.ts';
import { literalsOf } from '../../../src/core/text/pattern-literals.ts';
import { PatternScreen } from '../../../src/core/text/pattern-screen.ts';

const patterns = [...ERROR_CAUSES, ...ERROR_PATTERNS].map(({ pattern }) => pattern);
const screen = new PatternScreen(patterns.map(literalsOf));

/** The candidates of a text leave out no pattern that matches. */
function expectNoneMissed(text: string): void {
  const named = new Set(screen.candidates(text));
  for (const [i, pattern] of patterns.entries())
    if (!named.has(i)) expect(pattern.test(text), `${pattern} in ${JSON.stringify(text)}`).toBe(false);
}

/** Texts that match a pattern; lookaround and back references are left out of it, and the text may match no longer. */
function textsOf({ source }: RegExp): fc.Arbitrary<string> | null {
  const plain = source.replace(/\\b/g, '').replace(/\(\?<?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)/g, '');
  try {
    return fc.stringMatching(new RegExp(plain), { maxLength: 200 });
  } catch {
    return null;
  }
}

describe('a screen of patterns', () => {
  // Letters are folded by a bit that a few other characters lose, too: `_` becomes DEL.
  test.each([
    [/abc|def/, ['abc', 'def']],
    [/ab?cde+f/, ['abcd', 'acd']],
    [/(?:time|dead)line \w+ (?:over)/i, ['timeline ', 'deadline ']],
    [/[ _-]limit/, [' limit', '\x7flimit', '-limit']],
    [/(?:was )?refused$/, ['was refused', 'refused']],
    [/(?<!no )error(?! in)/, ['error']],
    [/a{2,}bcd|(?:efg)+/, ['bcd', 'efg']],
  ])('%s: every match contains one of its literals', (pattern, literals) => {
    expect(literalsOf(pattern)).toEqual(literals);
  });

  test.each([/\d+/, /a|bcd/, /ab/, /(?:abc)?/, /[^x]yz/, /\u00e9t\u00e9/i, /abc/iu])('%s has none', (pattern) => {
    expect(literalsOf(pattern)).toBeNull();
  });

  test('nearly all patterns of errors have literals', () => {
    expect(patterns.filter((pattern) => literalsOf(pattern) === null).length).toBeLessThan(8);
  });

  test('misses no pattern in texts that match one', () => {
    let drawn = 0;
    for (const pattern of patterns) {
      const texts = textsOf(pattern);
      if (texts === null) continue;
      for (const text of fc.sample(texts, 8)) {
        if (pattern.test(text)) drawn++;
        expectNoneMissed(text);
        expectNoneMissed(text.toUpperCase());
      }
    }
    expect(drawn).toBeGreaterThan(200);
  });

  test('misses no pattern in texts of their words', () => {
    const words = [...new Set(patterns.flatMap(({ source }) => source.match(/[\w'. -]{2,}/g) ?? []))];
    const text = fc
      .array(
        fc.oneof(fc.constantFrom(...words), fc.constantFrom(' ', ': ', '\n', '\t', '5', '(', '"', '…', 'ſ', 'K')),
        {
          maxLength: 12,
        },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (drawn) => {
        expectNoneMissed(drawn);
        expectNoneMissed(drawn.toUpperCase());
      }),
      { numRuns: 500 },
    );
  });

  test('a long text is left to all patterns', () => {
    expect(screen.candidates('x'.repeat(10_000))).toHaveLength(patterns.length);
  });
});
