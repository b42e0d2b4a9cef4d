import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { truncateToolText } from '../../src/engine/index.ts';
import { clockUse } from '../../src/replay/compare/clock.ts';
import { possibleCuts } from '../../src/replay/compare/cut.ts';
import { ALL_RULES, RULE_NAMES, rulesWithout } from '../../src/replay/compare/rules.ts';
import { matchTexts } from '../../src/replay/compare/texts.ts';
import { diffTexts } from '../../src/replay/diff.ts';

interface Known {
  rules?: typeof ALL_RULES;
  /** Of the run. */
  seconds?: number;
  /** The output of a second run. */
  again?: string;
}

const match = (recorded: string, fresh: string, code = 'print(1)', { rules = ALL_RULES, seconds, again }: Known = {}) =>
  matchTexts(recorded, fresh, {
    rules,
    facts: {
      code,
      clock: clockUse(code),
      seconds: seconds ?? null,
      now: Date.now() / 1000,
      again: again?.split('\n') ?? null,
    },
  });
const now = new Date().toISOString();

describe('a cut result', () => {
  const long = fc.string({ unit: 'grapheme', minLength: 20, maxLength: 400 });
  const side = fc.constantFrom('left' as const, 'right' as const, 'middle' as const);

  test('of any side and length is compared as a cut one, and says how much it shows', () => {
    fc.assert(
      fc.property(long, side, fc.integer({ min: 2, max: 256 }), (text, which, limit) => {
        const recorded = truncateToolText(text, limit, which);
        const found = match(recorded, text, 'x', { rules: new Set() });
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

  test('of a program that prints the mark itself is read literally', () => {
    const text = 'a...(truncated)...b\n';
    expect(match(text, text)).toMatchObject({ compared: 'whole' });
    expect(possibleCuts('...(truncated)')).toEqual([]);
  });

  test('is longer than its shown part', () => {
    expect(match('abcd...(truncated)', 'abcde')).toMatchObject({ compared: 'shown_part', shown: 4, total: 5 });
    expect(match('abcd...(truncated)', 'abcd')).toBeNull();
    expect(match('ab...(truncated)...cd', 'abcd')).toBeNull();
    expect(match('abcd...(truncated)\n', 'abcde')).toMatchObject({ compared: 'shown_part' });
  });

  test('whose visible part may change entirely was not compared', () => {
    const seconds = String(Math.floor(Date.now() / 1000));
    const code = 'print(int(time.time()))';
    expect(match('1700000...(truncated)', `${seconds} and more`, code)).toBeNull();
    expect(match('1700000000 and...(truncated)', `${seconds} and more`, code)).toMatchObject({ shown: 4 });
  });

  test('may be cut through something that changes', () => {
    const text = (path: string) => `File "/tmp/${path}/code.py" says\n${'x '.repeat(200)}\nin /tmp/${path}/code.py`;
    const recorded = truncateToolText(text('tmpabcd1234'), 64, 'middle');
    expect(match(recorded, text('tmpzyxw9876'))).toMatchObject({ compared: 'shown_part', rules: ['temporary-paths'] });
  });
});

describe('what a run may change', () => {
  const T = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n';
  const cases: [rule: string, code: string, recorded: string, fresh: string][] = [
    [
      'temporary-paths',
      'x',
      'File "/tmp/tmpab12cd34/tmpqwertyui.py", line 1\n',
      'File "/tmp/tmpzz99yy88/tmpasdfghjk.py", line 1\n',
    ],
    ['times', 'import time\nprint(time.time() - start)', 'took 0.12 s\n', 'took 3.4 s\n'],
    ['times', 'print(datetime.now())', '2024-01-02 03:04:05.678901\n', `${now.replace('T', ' ').slice(0, 23)}\n`],
    ['times', 'print(int(time.time()))', '1700000000\n', `${Math.floor(Date.now() / 1000)}\n`],
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
    ['tracebacks', 'f()', `${T}    f()\n    ~^^\nE: 1\n`, `${T}    f()\nE: 1\n`],
    [
      'tracebacks',
      'x',
      'Traceback (most recent call last):\n  File "/usr/lib/python3.11/json/decoder.py", line 355, in decode\n    raise E\nE\n',
      'Traceback (most recent call last):\n  File "/lib/python314.zip/json/decoder.py", line 361, in decode\n    obj = scan(s)\nE\n',
    ],
    [
      'python-wording',
      'f()',
      `${T}UnboundLocalError: local variable 'x' referenced before assignment\n`,
      `${T}UnboundLocalError: cannot access local variable 'x' where it is not associated with a value\n`,
    ],
    ['outer-space', 'x', '4', '4\n'],
    [
      'network-wording',
      'urlopen(url)',
      'Error: <urlopen error [Errno -3] Temporary failure in name resolution>\n',
      'Error: <urlopen error [Errno -2] Name or service not known>\n',
    ],
    [
      'network-wording',
      'curl https://example.com',
      'curl: (6) Could not resolve host: example.com\n',
      'curl: (6) Could not resolve hostname: example.com\n',
    ],
    [
      'pipe-order',
      "run('python x.py 2>&1', shell=True)",
      'first\nwarning: old\nsecond\n',
      'warning: old\nfirst\nsecond\n',
    ],
  ];
  test.each(cases)('%s', (rule, code, recorded, fresh) => {
    expect(match(recorded, fresh, code)).toMatchObject({ rules: [rule], compared: 'whole' });
    expect(match(recorded, fresh, code, { rules: rulesWithout([rule]) })).toBeNull();
  });

  const notebook = (error: string, text = '') =>
    `${text}---------------------------------------------------------------------------\nZeroDivisionError                         Traceback (most recent call last)\nCell In[3], line 2\n      1 def f():\n----> 2     return 1 / 0\n\nCell In[3], line 4\n      2     return 1 / 0\n----> 4 f()\n\n${error}`;
  const plain = (error: string, text = '') =>
    `${text}${T}    f()\n  File "a.py", line 2, in f\n    return 1 / 0\n${error}`;

  test('the same exception is the same in IPython’s form and in Python’s own', () => {
    const error = 'ZeroDivisionError: division by zero';
    for (const [recorded, fresh] of [
      [notebook(error), plain(`${error}\n`)],
      [plain(`${error}\n`), notebook(error)],
      [notebook(error, 'first\n'), plain(`${error}\n`, 'first\n')],
      [notebook(`\x1b[0;31mZeroDivisionError\x1b[0m: division by zero`), plain(error)],
      [`<ipython-input-1-9e1622b385b6> in <module>\n----> 1 1/0\n\n${error}`, plain(error)],
    ] as const)
      expect(match(recorded, fresh, 'f()')?.rules).toContain('tracebacks');
    expect(match(notebook(error), plain('ZeroDivisionError: float modulo'), 'f()')).not.toBeNull();
    expect(match(notebook(error), plain('KeyError: 1'), 'f()')).toBeNull();
    expect(match(notebook(error, 'first\n'), plain(error, 'second\n'), 'f()')).toBeNull();
    expect(match(notebook(error), 'ZeroDivisionError: division by zero is text\n', 'f()')).toBeNull();
  });

  test('frames of a recursion that a cut leaves out may be more or fewer', () => {
    const code = 'def a(n): return b(n)\ndef b(n): return a(n)\nprint("go")\na(1)';
    const deep = (count: number, from = 0) => {
      const frames = Array.from({ length: count }, (_, i) => {
        const [name, line] = (i + from) % 2 === 0 ? ['a', 1] : ['b', 2];
        return `  File "x.py", line ${line}, in ${name}\n    def ${name}(n): return ${name === 'a' ? 'b' : 'a'}(n)\n`;
      });
      return `go\nTraceback (most recent call last):\n  File "x.py", line 4, in <module>\n    a(1)\n${frames.join('')}RecursionError: maximum recursion depth exceeded\n`;
    };
    const recorded = truncateToolText(deep(990), 600, 'middle');
    expect(match(recorded, deep(991), code)).toMatchObject({ compared: 'shown_part', rules: ['tracebacks'] });
    expect(match(recorded, deep(991).replace('go', 'stop'), code)).toBeNull();
    expect(match(recorded.replaceAll(', in a', ', in c'), deep(991), code)).toBeNull();
  });

  test('two outputs of one pipe are the same in another order only where the code joins them', () => {
    const joined = 'sh -c "x 2>&1"';
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(lines, lines, fc.infiniteStream(fc.boolean()), (out, err, turns) => {
        const [a, b] = [out.map((line) => `out ${line}`), err.map((line) => `err ${line}`)];
        const merged: string[] = [];
        for (const turn of turns) {
          const next = a.length === 0 ? b.shift() : b.length === 0 || turn ? a.shift() : b.shift();
          if (next === undefined) break;
          merged.push(next);
        }
        const fresh = [...out.map((line) => `out ${line}`), ...err.map((line) => `err ${line}`)].join('\n');
        expect(match(merged.join('\n'), fresh, joined)).not.toBeNull();
      }),
    );
    expect(match('b\na\n', 'a\nb\n', 'x')).toBeNull();
    expect(match('c\nb\na\n', 'a\nb\nc\n', joined)).toBeNull();
    expect(match('b\na\na\n', 'a\nb\n', joined)).toBeNull();
  });

  test('every rule has its case, and an unknown rule is reported', () => {
    expect([...new Set(cases.map(([rule]) => rule))].sort()).toEqual([...RULE_NAMES].sort());
    expect(() => rulesWithout(['tmies'])).toThrow(/'tmies' is not a rule; the rules are .*times/);
  });

  test.each([
    ['a duration that is the answer', 'print("12 seconds")', '12 seconds', '13 seconds'],
    ['a date that is the answer', 'print(date(2024, 1, 1))', '2024-01-01', '2024-01-02'],
    ['a large number', 'print(2 ** 50)', '1125899906842624', '1125899906842625'],
    ['a hexadecimal number', 'print(hex(n))', '0xdeadbeef', '0xdeadbeee'],
    ['the elements of a set', 'print(s)', '{1, 2}', '{1, 3}'],
    ['a dictionary', 'print(d)', "{'a': 1, 'b': 2}", "{'b': 1, 'a': 2}"],
    ['a letter', 'print(s)', 'abc', 'abd'],
    ['the order of a set of numbers', 'print(s)', '{1, 2}', '{2, 1}'],
    ['pairs of the same numbers', 'print(s)', "{('a', 1), ('b', 2)}", "{('a', 2), ('b', 1)}"],
    ['a text in braces', "print('{' + s + '}')", "{'a', 'b'}", "{'b', 'a'}"],
    ['an address that is the answer', 'print(s)', 'at 0x7f00aa00bb00', 'at 0x7f11cc22dd33'],
    ['a name that looks like a temporary one', "print('/tmp/tmp_var_%s' % n)", '/tmp/tmp_var_001', '/tmp/tmp_var_002'],
    ['a date of a program that reads the clock', 'print(today() - d)', '2024-01-01', '2024-01-02'],
    ['seconds of chance, seeded by the clock', 'random.seed(time.time())\nprint(random.random())', '1.5 s', '1.6 s'],
    ['a reading that nobody uses', 'start = time.time()\nprint(x, "seconds")', '1.5 seconds', '1.6 seconds'],
    ['leading space', 'print(s)', '    *\nx\n', '   *\nx\n'],
    ['leading space of one line', 'print(s)', '  *', '    *\n'],
    [
      'a frame of another function',
      'f()',
      `${T}  File "a.py", line 1, in f\nE: 1\n`,
      `${T}  File "a.py", line 1, in g\nE: 1\n`,
    ],
    ['a line of another program', 'f()', `${T}    g()\nE: 1\n`, `${T}    f()\nE: 1\n`],
  ])('%s is no such thing', (_what, code, recorded, fresh) => {
    expect(match(recorded, fresh, code)).toBeNull();
  });

  test('a newline that a template takes away is nothing, and the space before the text stays a part of it', () => {
    expect(match('  *', '  *\n')).toMatchObject({ rules: ['outer-space'], compared: 'whole' });
    expect(match('*', '  *\n')).toMatchObject({ rules: ['outer-space'] });
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

describe('what a clock says', () => {
  test('is no longer than the run that it measured', () => {
    const code = 'import time\nt = time.time()\nprint(time.time() - t, "s")';
    expect(match('0.5 s', '0.2 s', code, { seconds: 0.4 })).toMatchObject({ rules: ['times'] });
    expect(match('500.5 s', '470.2 s', code, { seconds: 0.4 })).toBeNull();
  });

  test('without words beside it is what a second run changes, where nothing is left to chance', () => {
    const code = 'import time\nt = time.time()\nprint(17.5)\nprint(time.time() - t)';
    const fresh = '17.5\n0.0023\n';
    expect(match('17.5\n0.0019\n', fresh, code, { again: '17.5\n0.0021\n' })).toMatchObject({ rules: ['times'] });
    expect(match('17.6\n0.0019\n', fresh, code, { again: '17.5\n0.0021\n' })).toBeNull();
    expect(
      match('17.5\n0.0019\n', fresh, `import random\n${code}\nrandom.random()`, { again: '17.5\n0.0021\n' }),
    ).toBeNull();
  });

  test('beside what chance says is only what the program puts there', () => {
    const code =
      'import random, time\nt = time.time()\nprint(f"estimate={random.random()} time={time.time() - t:.4f}s")';
    expect(match('estimate=0.5 time=0.0012s', 'estimate=0.5 time=0.0031s', code, { seconds: 1 })).not.toBeNull();
    expect(match('estimate=0.4 time=0.0012s', 'estimate=0.5 time=0.0031s', code, { seconds: 1 })).toBeNull();
  });
});

describe('a traceback that was cut', () => {
  const code = `def area(r):\n    return 3.14 * r ** 2\n\ndef total(shapes):\n    return sum(area(s['radius']) for s in shapes)\n\nprint('Total area is', total([{'d': 3}]))`;
  const frame = (line: number, name: string) => `  File "/tmp/tmpab12cd34/tmpqwertyui.py", line ${line}, in ${name}\n`;
  const lines = code.split('\n');
  const traceback = (marks: boolean, folder: string, error = "KeyError: 'radius'") =>
    [
      'Traceback (most recent call last):\n',
      ...[
        [7, '<module>'],
        [5, 'total'],
        [5, '<genexpr>'],
      ].map(
        ([line, name]) =>
          `${frame(line as number, name as string).replaceAll('tmpab12cd34', folder)}    ${lines[(line as number) - 1]!.trim()}\n${marks ? '           ^^^^^^^^^^^^\n' : ''}`,
      ),
      `${error}\n`,
    ].join('');

  test('anywhere is the same in a Python that marks its lines and in one that does not', () => {
    for (const limit of [64, 100, 128, 190, 256, 300])
      for (const which of ['left', 'right', 'middle'] as const)
        for (const marks of [true, false]) {
          const recorded = truncateToolText(traceback(marks, 'tmpzz99yy88'), limit, which);
          expect(match(recorded, traceback(true, 'tmpab12cd34'), code)).not.toBeNull();
        }
  });

  test('is another one where the error or a line is', () => {
    for (const limit of [190, 256, 300]) {
      const other = truncateToolText(traceback(true, 'tmpzz99yy88', "KeyError: 'height'"), limit, 'middle');
      expect(match(other, traceback(true, 'tmpab12cd34'), code)).toBeNull();
      const line = truncateToolText(traceback(true, 'tmpzz99yy88').replace('line 7', 'line 1'), limit, 'middle');
      expect(match(line, traceback(true, 'tmpab12cd34'), code)).toBeNull();
    }
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
  ])('of %j is normalised, and distinguished from another', (piece) => {
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

  test('marks the words of a changed line', () => {
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

  test('has three equal lines around a change; an omitted single line is shown itself', () => {
    const lines = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}`);
    const diff = (before: number, after: number) =>
      diffTexts(
        [...lines(before, 'a'), 'old', ...lines(after, 'b')].join('\n'),
        [...lines(before, 'a'), 'new', ...lines(after, 'b')].join('\n'),
      )!.map((one) => (one.op === 'skipped' ? one.lines : one.op === 'left_out' ? one.op : one.text));
    expect(diff(5, 6)).toEqual([2, 'a2', 'a3', 'a4', 'old', 'new', 'b0', 'b1', 'b2', 3]);
    expect(diff(4, 4)).toEqual(['a0', 'a1', 'a2', 'a3', 'old', 'new', 'b0', 'b1', 'b2', 'b3']);
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
