import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { truncateToolText } from '../../src/engine/index.ts';
import { matchTexts } from '../../src/replay/compare.ts';
import { possibleCuts } from '../../src/replay/cut.ts';
import { diffTexts } from '../../src/replay/diff.ts';
import { RULE_NAMES, RULES, rulesWithout } from '../../src/replay/normalise.ts';

const match = (recorded: string, fresh: string, code = 'print(1)', rules = RULES) =>
  matchTexts(recorded, fresh, { rules, code });

describe('a cut result', () => {
  const long = fc.string({ unit: 'grapheme', minLength: 20, maxLength: 400 });
  const side = fc.constantFrom('left' as const, 'right' as const, 'middle' as const);

  test('of any side and length is compared as a cut one, and says how much it shows', () => {
    fc.assert(
      fc.property(long, side, fc.integer({ min: 2, max: 256 }), (text, which, limit) => {
        const recorded = truncateToolText(text, limit, which);
        const found = matchTexts(recorded, text, { rules: [], code: null });
        const total = [...text].length;
        if (total <= limit) expect(found).toMatchObject({ compared: 'whole', rules: [] });
        else
          expect(found).toMatchObject({
            compared: 'shown_part',
            total,
            shown: which === 'middle' ? 2 * (limit >> 1) : limit,
          });
      }),
    );
  });

  test('whose shown part is another one is not the same', () => {
    const text = Array.from({ length: 300 }, (_, i) => `${i} `).join('');
    for (const which of ['left', 'right', 'middle'] as const) {
      const recorded = truncateToolText(text, 100, which);
      expect(match(recorded, `9${text}9`)).toBeNull();
      expect(match(recorded, text.slice(0, 50))).toBeNull();
      expect(match(recorded, '')).toBeNull();
    }
  });

  test('of a program that prints the mark itself is read as it stands', () => {
    const text = 'a...(truncated)...b\n';
    expect(match(text, text)).toMatchObject({ compared: 'whole' });
    expect(possibleCuts('...(truncated)')).toEqual([]);
  });

  test('may be cut through something that changes', () => {
    const text = (path: string) => `File "/tmp/${path}/code.py" says\n${'x '.repeat(200)}\nin /tmp/${path}/code.py`;
    const recorded = truncateToolText(text('tmpabcd1234'), 64, 'middle');
    expect(match(recorded, text('tmpzyxw9876'))).toMatchObject({ compared: 'shown_part', rules: ['temporary-paths'] });
  });
});

describe('what a run may change', () => {
  const cases: [rule: string, code: string, recorded: string, fresh: string][] = [
    [
      'temporary-paths',
      'x',
      'File "/tmp/tmpab12cd34/tmpqwertyui.py", line 1\n',
      'File "/tmp/tmpzz99yy88/tmpasdfghjk.py", line 1\n',
    ],
    ['times', 'import time\nprint(time.time() - start)', 'took 0.12 s\n', 'took 3.4 s\n'],
    ['times', 'print(datetime.now())', '2026-01-02 03:04:05.678901\n', '2026-09-08 07:06:05.432109\n'],
    ['times', 'unittest.main()', 'Ran 3 tests in 0.001s\n', 'Ran 3 tests in 0.120s\n'],
    ['addresses', 'print(f)', '<function f at 0x7f00aa00bb00>\n', '<function f at 0x7f11cc22dd33>\n'],
    ['object-ids', 'print(id(x))', '140211234567890\n', '140299999999999\n'],
    [
      'object-ids',
      'print(uuid4())',
      'f47ac10b-58cc-4372-a567-0e02b2c3d479\n',
      '9b2d7c3a-1f00-4abc-8def-001122334455\n',
    ],
    ['set-order', 'print(s)', "{'b', 'a', 'c'}\n", "{'a', 'c', 'b'}\n"],
    ['traceback-marks', 'x', '  File "a.py", line 1\n    f()\n    ~^^\nE\n', '  File "a.py", line 1\n    f()\nE\n'],
    [
      'library-frames',
      'x',
      'T:\n  File "/usr/lib/python3.11/json/decoder.py", line 355, in decode\n    raise E\nE\n',
      'T:\n  File "/lib/python314.zip/json/decoder.py", line 361, in decode\n    obj = scan(s)\nE\n',
    ],
    ['outer-space', 'x', '4', '4\n'],
  ];
  test.each(cases)('%s', (rule, code, recorded, fresh) => {
    expect(match(recorded, fresh, code)).toMatchObject({ rules: [rule], compared: 'whole' });
    expect(match(recorded, fresh, code, rulesWithout([rule]))).toBeNull();
  });

  test('every rule has its case, and a rule that is none is told', () => {
    expect([...new Set(cases.map(([rule]) => rule))].sort()).toEqual([...RULE_NAMES].sort());
    expect(() => rulesWithout(['tmies'])).toThrow(/'tmies' is no rule; the rules are .*times/);
  });

  test.each([
    ['a duration that is the answer', 'print("12 seconds")', '12 seconds', '13 seconds'],
    ['a date that is the answer', 'print(date(2024, 1, 1))', '2024-01-01', '2024-01-02'],
    ['a large number', 'print(2 ** 50)', '1125899906842624', '1125899906842625'],
    ['a hexadecimal number', 'print(hex(n))', '0xdeadbeef', '0xdeadbeee'],
    ['the elements of a set', 'print(s)', '{1, 2}', '{1, 3}'],
    ['a dictionary', 'print(d)', "{'a': 1, 'b': 2}", "{'b': 1, 'a': 2}"],
    ['a letter', 'print(s)', 'abc', 'abd'],
  ])('%s is no such thing', (_what, code, recorded, fresh) => {
    expect(match(recorded, fresh, code)).toBeNull();
  });

  test('a changed digit, anywhere in a plain text, is found', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.nat(), (numbers, at) => {
        const changed = numbers.map((number, i) => (i === at % numbers.length ? number + 1 : number));
        expect(match(`${numbers.join('\n')}\n`, `${changed.join('\n')}\n`)).toBeNull();
      }),
    );
  });
});

describe('a text made to be slow', () => {
  const code = 'print(id(x), time.time())';
  test.each([
    '/a',
    ' ',
    '\n',
    '{a, ',
    "{'a', ",
    '1:',
    '1.',
    '9',
    'at 0x',
    '  File "/lib/python3',
    '^ ',
    'a'.repeat(63),
    'OSError: ',
    '0 s',
  ])('of %j is normalised, and told from another', (piece) => {
    const text = piece.repeat(Math.ceil(400_000 / piece.length));
    expect(match(`x${text}x`, `x${text}y`, code)).toBeNull();
  });
});

describe('the diff', () => {
  const line = fc.constantFrom('a', 'b', 'a b c', '', 'x y');
  const text = fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n'));

  test('holds both texts, apart from the equal lines it leaves out', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const diff = diffTexts(before, after);
        expect(diff === null).toBe(before === after);
        if (diff === null) return;
        const side = (op: 'removed' | 'added') =>
          diff.reduce(
            (count, one) => count + (one.op === 'skipped' ? one.lines : one.op === 'same' || one.op === op ? 1 : 0),
            0,
          );
        expect(side('removed')).toBe(before.split('\n').length);
        expect(side('added')).toBe(after.split('\n').length);
        for (const one of diff)
          if ('words' in one && one.words) expect(one.words.map((word) => word.text).join('')).toBe(one.text);
      }),
    );
  });

  test('tells the words of a changed line apart', () => {
    const diff = diffTexts('total 12 km\n', 'total 13 km\n');
    expect(diff).toMatchObject([
      {
        op: 'removed',
        words: [
          { op: 'same', text: 'total ' },
          { op: 'changed', text: '12' },
          { op: 'same', text: ' km' },
        ],
      },
      { op: 'added', words: [{ op: 'same' }, { op: 'changed', text: '13' }, { op: 'same' }] },
      { op: 'same', text: '' },
    ]);
  });

  test('of huge texts that have nothing in common ends', () => {
    const [a, b] = ['a', 'b'].map((name) => Array.from({ length: 20_000 }, (_, i) => `${name}${i}`).join('\n'));
    const diff = diffTexts(a!, b!)!;
    expect(diff).toHaveLength(401);
    expect(diff.at(-1)).toEqual({ op: 'left_out', removed: 19_800, added: 19_800 });
  });

  test('of more lines than a stack holds ends, and says what is left out', () => {
    const [a, b] = ['a', 'b'].map((name) => Array.from({ length: 200_000 }, (_, i) => `${name}${i}`).join('\n'));
    expect(diffTexts(`same\n${a}\nend`, `same\n${b}\nend`)!.at(-1)).toMatchObject({ op: 'left_out', removed: 199_800 });
  });
});
