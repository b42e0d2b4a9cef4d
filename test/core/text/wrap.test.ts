import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fitLeft, fitRight, take, truncate, truncateStart } from '../../../src/core/text/fit.ts';
import { cellWidth, graphemes } from '../../../src/core/text/graphemes.ts';
import { sanitise } from '../../../src/core/text/sanitise.ts';
import { expandTabs, lineAt, takeTabbed, visibleRange, wrap, wrapping } from '../../../src/core/text/wrap.ts';

/** The lines as a reader sees them. */
function shown(text: string, width: number): string[] {
  const lines = wrap(text, width);
  return Array.from({ length: lines.count }, (_, i) => {
    const [start, end] = visibleRange(text, lines, i);
    return ' '.repeat(lines.indents[i]!) + expandTabs(text.slice(start, end));
  });
}

const pieces = fc.constantFrom(
  ...[
    'a',
    'word ',
    '  ',
    '\t',
    '\n',
    '- item ',
    '12. ',
    '计算',
    '，',
    '（',
    '🙂',
    '👩‍👩‍👧',
    'e\u0301',
    '\u0301',
    'שלום ',
    '1️⃣',
    '🇩🇪',
    '각',
    '한',
  ],
);
const anyText = fc
  .array(fc.oneof(pieces, fc.string({ unit: 'grapheme' }), fc.string({ maxLength: 40 })), { maxLength: 60 })
  .map((parts) => sanitise(parts.join('')));

test('a long run of marks parts no pair of surrogates', () => {
  const { ends } = graphemes(`a${'\u0301'.repeat(198)}🙂`);
  expect(ends.at(-1)).toBe(201);
  expect(ends).not.toContain(200);
});

test('the beginning of a line counts the blanks that its tabs become', () => {
  expect(takeTabbed('i\tnput', 4)).toBe('i\t');
  expect(takeTabbed('i\tnput', 3)).toBe('i');
  expect(takeTabbed('a\t漢b', 5)).toBe('a\t');
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, width) => {
      const [line] = text.split('\n') as [string];
      expect(cellWidth(expandTabs(takeTabbed(line, width)))).toBeLessThanOrEqual(width);
    }),
  );
});

describe('wrap', () => {
  test('breaks at words, and hangs the lines that continue a list item under its text', () => {
    expect(shown('so the number of apples\n- first we compute the cost\n    x = y + 2 and more', 12)).toEqual([
      'so the',
      'number of',
      'apples',
      '- first we',
      '  compute',
      '  the cost',
      '    x = y +',
      '    2 and',
      '    more',
    ]);
  });

  test('an indentation of more than half the width is not hung under', () => {
    expect(shown('      abc defg', 12)).toEqual(['      abc', '      defg']);
    expect(shown('       abc defg', 12)).toEqual(['       abc', 'defg']);
  });

  test('cuts a word that has no room, and keeps empty lines', () => {
    expect(shown('abcdefghij\n\nk', 4)).toEqual(['abcd', 'efgh', 'ij', '', 'k']);
    expect(shown('', 4)).toEqual(['']);
  });

  test('breaks Chinese between characters, but not before a comma', () => {
    expect(shown('让我们一步，一步思考', 10)).toEqual(['让我们一', '步，一步思', '考']);
    expect(shown('首先compute the结果', 11)).toEqual(['首先compute', 'the结果']);
  });

  test('whatever the text: no character is lost, no line is too wide, an offset finds its line', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 8, max: 40 }), fc.nat(), (text, width, somewhere) => {
        const lines = wrap(text, width);
        const parts = Array.from({ length: lines.count }, (_, i) => text.slice(lines.starts[i], lines.starts[i + 1]));
        expect(parts.join('')).toBe(text);
        for (const line of shown(text, width)) expect(cellWidth(line)).toBeLessThanOrEqual(width);
        for (let i = 0; i < lines.count; i++) {
          const [, end] = visibleRange(text, lines, i);
          expect(text.slice(end, lines.starts[i + 1])).toMatch(/^[ \t\n]*$/);
        }
        const offset = text.length === 0 ? 0 : somewhere % text.length;
        const line = lineAt(lines, offset);
        expect(lines.starts[line]).toBeLessThanOrEqual(offset);
        if (text !== '') expect(lines.starts[line + 1]).toBeGreaterThan(offset);
      }),
      { numRuns: 2000 },
    );
  });

  test('wide without end, a line of text is a line on the screen', () => {
    const text = `${'x'.repeat(5000)}\n${'计'.repeat(5000)}`;
    expect(wrap(text, Infinity).count).toBe(2);
  });

  test('marks without end are cut into lines', () => {
    const lines = shown(`e${'\u0301'.repeat(5000)}`, 20);
    expect(lines.join('').length).toBe(5001);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(64 * 20);
  });
});

describe('graphemes', () => {
  test('cover any text, and take the same room in pieces of any length', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 300 }), (parts) => {
        const text = parts.join('').replace(/[\t\n]/g, '');
        const { ends, widths } = graphemes(text);
        expect(ends.at(-1) ?? 0).toBe(text.length);
        expect(widths.length).toBe(ends.length);
        for (const end of ends) expect(/[\ud800-\udbff]$/.test(text.slice(0, end))).toBe(false);
      }),
    );
  });

  test('know Chinese, emoji of several code points and combining marks', () => {
    expect(cellWidth('计算')).toBe(4);
    expect(cellWidth('👩‍👩‍👧')).toBe(2);
    expect(cellWidth('e\u0301')).toBe(1);
    expect(cellWidth('🇩🇪x')).toBe(3);
    expect(graphemes('🇩🇪🇫🇷').ends).toEqual([4, 8]);
  });
});

describe('fit', () => {
  test('cuts with an ellipsis and fills to the width', () => {
    expect(truncate('rollout', 5)).toBe('roll…');
    expect(truncate('计算结果', 6)).toBe('计算…');
    expect(truncateStart('/a/b/c/train', 6)).toBe('…train');
    expect(fitRight('7', 3)).toBe('  7');
    expect(truncate('abc', 0)).toBe('');
  });

  test('whatever the text, it is exactly as wide as asked', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 30 }), (text, width) => {
        const line = text.replace(/[\t\n]/g, ' ');
        expect(cellWidth(fitLeft(line, width))).toBe(width);
        expect(cellWidth(fitRight(line, width))).toBe(width);
        expect(cellWidth(take(line, width))).toBeLessThanOrEqual(width);
        expect(line.startsWith(take(line, width))).toBe(true);
      }),
    );
  });
});

test('an opening mark does not end a line, a closing one does not begin one', () => {
  expect(shown('日本（語）', 6)).toEqual(['日本', '（語）']);
  expect(shown('日本語。', 6)).toEqual(['日本', '語。']);
});

describe('a long text', () => {
  const texts: Record<string, string> = {
    'many lines': 'let me verify each step of it using python.\n'.repeat(20_000),
    'one line of words': 'let me verify each step of it using python. '.repeat(20_000),
    'one line without a blank': 'x'.repeat(900_000),
    'one line of wide letters': '计算剩下的部分，然后检查。'.repeat(60_000),
    'one line of joined signs': '👩‍👩‍👧‍👦 e\u0301 '.repeat(60_000),
  };
  test.each(Object.entries(texts))('of %s is laid out in many steps, as if in one', (_, text) => {
    const made = wrapping(text, 70);
    let steps = 0;
    let next = made.next();
    for (; next.done !== true; next = made.next()) steps++;
    const lines = next.value;
    expect(steps).toBeGreaterThanOrEqual(Math.floor(text.length / 200_000));
    expect(lines.starts[0]).toBe(0);
    expect(lines.starts[lines.count]).toBe(text.length);
    expect(lines.starts).toHaveLength(lines.count + 1);
    let widest = 0;
    for (let line = 0; line < lines.count; line++)
      widest = Math.max(widest, cellWidth(text.slice(...visibleRange(text, lines, line))));
    expect(widest).toBeLessThanOrEqual(70);
    // Its first part does not depend on how much follows.
    const head = wrap(text.slice(0, 5000), 70);
    expect([...lines.starts.slice(0, head.count - 2)]).toEqual([...head.starts.slice(0, head.count - 2)]);
  });
});
