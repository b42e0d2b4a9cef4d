import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sanitise, sanitiseLine, sanitising } from '../../../src/core/text/sanitise.ts';

/** Code points that terminals obey, reorder by, or do not show at all. */
const HOSTILE = [
  ...Array.from({ length: 0x20 }, (_, code) => code).filter((code) => code !== 9 && code !== 10),
  ...Array.from({ length: 0x21 }, (_, i) => 0x7f + i),
  ...[0x61c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0xfeff, 0xad, 0x115f, 0x3164, 0xfff9, 0xffff, 0xe0041],
];
const hostile = fc.constantFrom(...HOSTILE).map((code) => String.fromCodePoint(code));
const surrogate = fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code));
const mixed = fc
  .array(fc.oneof(hostile, surrogate, fc.string({ unit: 'grapheme' }), fc.string()), { maxLength: 20 })
  .map((parts) => parts.join(''));

describe('sanitise', () => {
  test('shows escape sequences instead of sending them', () => {
    expect(sanitise('\x1b]52;c;cm0gLXJm\x07\x1b[2J\x9b31mred')).toBe('␛]52;c;cm0gLXJm␇␛[2J<U+009B>31mred');
    expect(sanitise('a\r\x7f\0')).toBe('a␍␡␀');
  });

  test('shows what would reorder or hide text', () => {
    expect(sanitise('user\u202eresu')).toBe('user<U+202E>resu');
    expect(sanitise('\ufeffa\u200bb\u2066c\u00ad')).toBe('<U+FEFF>a<U+200B>b<U+2066>c<U+00AD>');
    expect(sanitise('a\u200db')).toBe('a<U+200D>b');
    expect(sanitise('line\u2028line\u2029')).toBe('line<U+2028>line<U+2029>');
    expect(sanitise('hi\u{e0041}\u{e0042}')).toBe('hi<U+E0041><U+E0042>');
  });

  test('shows a lone surrogate, and keeps a pair', () => {
    expect(sanitise('\ud83d!')).toBe('<U+D83D>!');
    expect(sanitise('🙂')).toBe('🙂');
  });

  test('leaves text alone: layout, scripts, emoji of several code points', () => {
    for (const text of ['a\n\tb', '让我们 计算', 'é e\u0301', 'שלום مرحبا', '👩‍👩‍👧 ❤️ 1️⃣', 'می‌خواهم', 'क्‍ष']) {
      expect(sanitise(text)).toBe(text);
    }
  });

  test('leaves nothing unsafe alone because usual text is around it', () => {
    // Each of the characters that are signs of their own between letters is one as well at the end of usual text.
    for (let code = 0; code < 0x11000; code++) {
      const character = String.fromCodePoint(code);
      const shown = sanitise(`\u{1d400}${character}b`).slice(2, -1);
      expect(sanitise(`é计${character}b`).slice(2, -1), code.toString(16)).toBe(shown);
    }
  });

  test('keeps a line on its line', () => {
    expect(sanitiseLine('a\nb\tc\x1b')).toBe('a␊b␉c␛');
  });

  test('whatever the text, nothing that a terminal obeys comes out, and what is clean stays as it is', () => {
    fc.assert(
      fc.property(mixed, (text) => {
        const shown = sanitise(text);
        for (const code of HOSTILE) expect(shown.includes(String.fromCodePoint(code))).toBe(false);
        expect(shown).not.toMatch(/\p{Cs}/u);
        expect(sanitise(shown)).toBe(shown);
        expect(shown.split('\n').length).toBe(text.split('\n').length);
        expect(sanitiseLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });
});

test('a long text is sanitised with pauses, and the same', () => {
  const parts = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '計',
    '👩\u200d👩',
    'e\u0301',
    '\u200d',
    '\ufe0f',
    '\u{e0101}',
    '\u202e',
    '\x1b',
    '\ud83d',
    '1\ufe0f\u20e3',
  );
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 12 }), (some) => {
      const text = some.join('').repeat(100_000);
      const work = sanitising(text);
      let pauses = 0;
      for (let step = work.next(); ; step = work.next(), pauses++)
        if (step.done === true) {
          expect(step.value === sanitise(text)).toBe(true);
          break;
        }
      expect(pauses).toBeLessThanOrEqual(Math.ceil(text.length / 65_536));
    }),
    { numRuns: 5 },
  );
});
