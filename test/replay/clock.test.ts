import { describe, expect, test } from 'vitest';
import {
  clockUse,
  durationAt,
  fitsRun,
  isEpochNear,
  isRate,
  isStampNear,
  mayWaver,
} from '../../src/replay/compare/clock.ts';
import { readSet } from '../../src/replay/compare/sets.ts';
import { isOneStatement, readLines } from '../../src/replay/compare/traceback.ts';
import { sharedWording } from '../../src/replay/compare/wording.ts';

describe('the clock', () => {
  test.each<[string, boolean, boolean]>([
    ['print(time.time())', true, false],
    ['random.seed(time.time())\nprint(random.random())', false, true],
    ['start = time.time()\nprint(7)', false, false],
    ['start = time.time()\ntook = time.time() - start\nprint(took)', true, false],
    ['unittest.main()', true, false],
    ['import random\nprint(7)', false, false],
    ['print(7)', false, false],
  ])('is read by %j: %s, and chance: %s', (code, reads, hasChance) => {
    expect(clockUse(code)).toMatchObject({ reads, hasChance });
  });

  test('a duration has the unit beside it, else that of its label', () => {
    const at = (text: string, number: string) => {
      const start = text.indexOf(number);
      return durationAt(text, start, start + number.length);
    };
    expect(at('it took 250 ms', '250')).toBe(0.25);
    expect(at('wall time (ms): 250', '250')).toBe(0.25);
    expect(at('elapsed: 3', '3')).toBe(3);
    expect(at('apples: 3', '3')).toBeNull();
    expect(at('at 3 m/s', '3')).toBeNull();
    expect(isRate('12.5 it/s', 4)).toBe(true);
  });

  test('a duration is no longer than the run, a loaded host aside', () => {
    expect([fitsRun(12.5, 10), fitsRun(12.6, 10), fitsRun(-1, 10), fitsRun(70, null), fitsRun(80, null)]).toEqual([
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  test('a stamp is near where it is the time of the run in any zone', () => {
    const noon = Date.UTC(2026, 0, 2, 12) / 1000;
    expect(isStampNear('12:01:00', noon)).toBe(true);
    expect(isStampNear('17:44:30', noon)).toBe(true);
    expect(isStampNear('12:05:00', noon)).toBe(false);
    expect(isStampNear('2026-01-02', noon)).toBe(true);
    expect(isStampNear('2026-01-05', noon)).toBe(false);
    expect(isStampNear('03.01.2026', noon)).toBe(true);
    expect([isEpochNear(noon * 1000 + 5, noon), isEpochNear(noon - 90_000, noon)]).toEqual([true, false]);
  });
});

describe('a set as Python prints it', () => {
  const read = (text: string) => {
    const set = readSet(text, 0);
    return set && [set.key, set.end, set.hasText];
  };
  test.each<[string, ReturnType<typeof read>]>([
    ["{'b', 'a'} and", ["{'a', 'b'}", 10, true]],
    ['{2, 1}', ['{1, 2}', 6, false]],
    ['{(2, 1), (1, 2)}', ['{(1, 2), (2, 1)}', 16, false]],
    ["frozenset({'b', 'a'})", ["frozenset({'a', 'b'})", 21, true]],
    ['{(1,)}', ['{(1)}', 6, false]],
    ["{'a': 1}", null],
    ['{}', null],
    ['{name}', null],
    ["{'open}", null],
    ["{'a\nb'}", null],
  ])('%j', (text, set) => {
    expect(read(text)).toEqual(set);
  });
});

describe('the lines of a traceback', () => {
  const parts = (text: string, inside = false) => readLines(text.split('\n'), inside).map(({ part }) => part);
  const head = 'Traceback (most recent call last):';

  test('say what they are', () => {
    expect(
      parts(
        `before\n${head}\n  File "a.py", line 3, in f\n    x = g()\n        ~^^\n  File "a.py", line 4, in <listcomp>\n    y\n  File "/usr/lib/python3.11/json.py", line 1, in load\n    z\n  [Previous line repeated 9 more times]\nValueError: no\nbehind`,
      ),
    ).toEqual([
      'text',
      'header',
      'frame',
      'source',
      'mark',
      'library',
      'library',
      'library',
      'library',
      'repeated',
      'raised',
      'text',
    ]);
  });

  test('a frame outside of a traceback is text, but for code that does not parse', () => {
    expect(parts('  File "a.py", line 3, in f\nplain')).toEqual(['text', 'text']);
    expect(parts('  File "a.py", line 3\n    x = \n        ^\nSyntaxError: invalid syntax')).toEqual([
      'syntax',
      'source',
      'mark',
      'raised',
    ]);
    expect(parts('    x()\n  File "a.py", line 3, in f\n    y()\nE: 1', true)).toEqual([
      'source',
      'frame',
      'source',
      'raised',
    ]);
  });

  test('two lines lie in one statement where brackets or a backslash hold them together', () => {
    const code = 'f(\n  1,\n  2)\ng()\nx = 1 + \\\n  2\nprint("(")\ny';
    expect(isOneStatement(code, 1, 3)).toBe(true);
    expect(isOneStatement(code, 3, 2)).toBe(true);
    expect(isOneStatement(code, 3, 4)).toBe(false);
    expect(isOneStatement(code, 5, 6)).toBe(true);
    expect(isOneStatement(code, 7, 8)).toBe(false);
  });
});

test.each([
  ["NameError: name 'pritn' is not defined. Did you mean: 'print'?", "NameError: name 'pritn' is not defined"],
  ['TypeError: A.f() missing 1 required argument', 'TypeError: f() missing 1 required argument'],
  ['ZeroDivisionError: integer division or modulo by zero', 'ZeroDivisionError: division by zero'],
  ['ValueError: too many values to unpack (expected 2, got 3)', 'ValueError: too many values to unpack (expected 2)'],
  ['ValueError: 3 is not in list', 'ValueError: list.index(x): x not in list'],
  ['SyntaxError: invalid syntax. Perhaps you forgot a comma?', 'IndentationError: unexpected indent'],
  ['TypeError: must be str, not int', 'TypeError: can only concatenate str (not "int") to str'],
])('%s is said in other words by another Python', (one, other) => {
  expect(sharedWording(one)).toBe(sharedWording(other));
});

test('another error is not', () => {
  expect(sharedWording('TypeError: f() missing 1')).not.toBe(sharedWording('TypeError: g() missing 1'));
  expect(sharedWording('ValueError: no')).not.toBe(sharedWording('KeyError: no'));
});

test.each([
  ["print(list({'a', 'b'}))", true],
  ['print({w for w in words})', true],
  ['print(hash(x))', true],
  ['import random\nprint(random.random())', true],
  ['import random\nrandom.seed(1)\nprint(random.random())', false],
  ["print({'a': 1, 'b': 2})", false],
  ['import random\nprint(1)', false],
  ['print({1, 2})', false],
])('%j may print something else the next time: %s', (code, wavers) => {
  expect(mayWaver(code)).toBe(wavers);
});
