import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/core/json/value.ts';
import type { LossMask } from '../../../src/core/rollout/loss-mask.ts';
import { formatCount, formatPercent, plural, sparkline } from '../../../src/core/text/numbers.ts';
import { meanText, scoreText, sizeText } from '../../../src/core/text/quantities.ts';
import { ageText, durationText, untilOlder } from '../../../src/viewer/present/age.ts';
import { amountText } from '../../../src/viewer/present/amount.ts';
import { groupParts } from '../../../src/viewer/present/group-text.ts';
import { formatJson, formattingJson } from '../../../src/viewer/present/json.ts';
import { renderEdges, renderPieces } from '../../../src/viewer/present/line.ts';
import { maskShare, maskShort } from '../../../src/viewer/present/mask-share.ts';
import { formatAdvantage, formatReward } from '../../../src/viewer/present/numbers.ts';
import { diffLines, outcomeLine, runDurationText } from '../../../src/viewer/present/replay-text.ts';
import { MONO } from '../../../src/viewer/present/theme.ts';

describe('a score', () => {
  test.each<[number | null | undefined, string]>([
    [1, '1.00'],
    [0.125, '0.1250'],
    [0.25, '0.25'],
    [-6.58, '-6.58'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'inf'],
    [Number.NEGATIVE_INFINITY, '-inf'],
    [null, '–'],
    [undefined, '…'],
    [0.00001, '1.0e-5'],
    [12_345_678.912, '1.2e+7'],
    [1234.5678, '1234.57'],
    [0, '0.00'],
  ])('%s is %s', (score, text) => {
    expect(scoreText(score)).toBe(text);
  });

  test('a mean has two decimals, except one that would round to zero or be a row of digits', () => {
    expect([0.333333, 0.00456, 0, 12_345_678].map(meanText)).toEqual(['0.33', '0.0046', '0.00', '1.2e+7']);
  });

  test('a reward says its sign, and an advantage that rounds to nothing is +0.00', () => {
    expect([0.25, -1, 0, Number.NaN].map(formatReward)).toEqual(['+0.25', '-1.00', '+0.00', 'NaN']);
    expect([-0.001, 1.499].map(formatAdvantage)).toEqual(['+0.00', '+1.50']);
  });
});

describe('counts and shares', () => {
  test('are grouped, and one is no plural', () => {
    expect([formatCount(16_384), plural(1, 'turn'), plural(0, 'turn'), plural(2000, 'turn')]).toEqual([
      '16,384',
      '1 turn',
      '0 turns',
      '2,000 turns',
    ]);
  });

  test('are grouped as the standard library groups them', () => {
    const standard = new Intl.NumberFormat('en-US');
    fc.assert(
      fc.property(fc.maxSafeInteger(), (count) => {
        expect(formatCount(count)).toBe(standard.format(count));
      }),
    );
    expect([0.5, 1234.5678, -1234.5, 1e21].map(formatCount)).toEqual(['0.5', '1,234.568', '-1,234.5', '1e+21']);
  });

  test('what is not quite all or nothing is not written as if it were', () => {
    expect([1, 0.999, 0.9999999, 0.995, 0, 0.001, 0.0000001, 0.62].map(formatPercent)).toEqual([
      '100 %',
      '99.9 %',
      '99.9 %',
      '99.5 %',
      '0 %',
      '0.1 %',
      '0.1 %',
      '62 %',
    ]);
  });

  test('sizes go by thousands, and change their unit before they are written with four digits', () => {
    expect([812, 1000, 23_400, 999_499, 999_500, 1_200_000, 3e12, 3e16].map(sizeText)).toEqual([
      '812 B',
      '1.0 kB',
      '23.4 kB',
      '999.5 kB',
      '1.0 MB',
      '1.2 MB',
      '3.0 TB',
      '30000.0 TB',
    ]);
  });

  test('a curve spans all of its values, shows the newest, and leaves a gap for what is no number', () => {
    expect(sparkline([0, 1, Number.NaN, 0.5], 4)).toBe('▁█ ▅');
    expect(sparkline([0, 1, 0.5], 1)).toBe('▅');
    expect(sparkline([2, 2], 2)).toBe('▄▄');
  });

  test('a text is measured in words, or in characters where its script has no blanks', () => {
    expect(amountText('two  words\n')).toBe('2 words');
    expect(amountText('one')).toBe('1 word');
    expect(amountText('计算苹果的数量')).toBe('7 characters');
    expect(amountText('𠀀𠀁')).toBe('2 characters');
    expect(amountText('a b c 计')).toBe('4 words');
    expect(amountText('a b 计 算')).toBe('4 characters');
  });
});

describe('ages', () => {
  const DAY = 86_400_000;

  test('have one unit; long ago it is the day', () => {
    expect([59_999, 60_000, 3_600_000, DAY, 59 * DAY].map(durationText)).toEqual([
      '59 s',
      '1 min',
      '1 h',
      '1 d',
      '59 d',
    ]);
    expect(ageText(60 * DAY, Date.UTC(2026, 2, 2))).toBe('2026-01-01');
    expect(ageText(60 * DAY - 1, Date.UTC(2026, 2, 2))).toBe('59 d ago');
  });

  test('are printed again when their text changes', () => {
    expect([500, 59_400, 61_000, 3_600_001, DAY].map(untilOlder)).toEqual([500, 600, 59_000, 3_599_999, null]);
  });

  test('a run is given in ms, seconds, minutes', () => {
    expect([0.25, 0.9996, 1, 59.94, 60, 90].map(runDurationText)).toEqual([
      '250 ms',
      '1000 ms',
      '1.0 s',
      '59.9 s',
      '1 min',
      '2 min',
    ]);
  });
});

describe('a group', () => {
  test('says its place, and what its scores teach', () => {
    expect(groupParts([1, 0, null], 2)).toEqual(['group 2/3', 'mean 0.50', 'min 0.00, max 1.00']);
    expect(groupParts([1, 1], 1)).toEqual(['group 1/2', 'no signal', 'all 1.00']);
    expect(groupParts([1, null], 1)).toEqual(['group 1/2', 'mean 1.00']);
    expect(groupParts([null, Number.NaN], 1)).toEqual(['group 1/2']);
  });
});

describe('the trained share', () => {
  const mask = (more: Partial<LossMask>): LossMask => ({
    source: 'inferred',
    trainedChars: 62,
    unknownChars: 0,
    totalChars: 100,
    trainedTokens: null,
    totalTokens: null,
    ...more,
  });

  test('says how far it is known, and of what', () => {
    expect(maskShare(mask({}))).toBe('~62 % (inferred, characters)');
    expect(maskShare(mask({ source: 'recorded' }))).toBe('62 % (recorded, characters)');
    expect(maskShare(mask({ unknownChars: 12 }))).toBe('≥ 62 %, 12 % unknown (inferred, characters)');
    expect(maskShare(mask({ source: 'tokens', trainedTokens: 1, totalTokens: 2, unknownChars: 12 }))).toBe(
      '50 % (tokens, tokens)',
    );
    expect(maskShare(mask({ trainedChars: 0, unknownChars: 100 }))).toBe('mask unknown');
    expect(maskShare(mask({ trainedChars: 0, totalChars: 0 }))).toBe('no response');
    expect([maskShort(null), maskShort(mask({}))]).toEqual(['not trained', '~62 % trained']);
  });
});

test('JSON is shown as it was written, and too deep a value is cut', () => {
  expect(formatJson({ a: [1n, Number.NaN, null], b: {} })).toBe('{"a": [1, NaN, null], "b": {}}');
  expect(formatJson([1, { a: 2 }], 2)).toBe('[\n  1,\n  {\n    "a": 2\n  }\n]');
  let deep: object = {};
  for (let i = 0; i < 300; i++) deep = { deep };
  expect(formatJson(deep as never)).toContain('…');
});

test('JSON that is long is formatted with pauses, and the same', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      expect(finished(formattingJson(value as JsonValue, indent)).result).toBe(formatJson(value as JsonValue, indent));
    }),
  );
  const list = Array.from({ length: 50_000 }, (_, i) => i);
  for (const many of [{ list: list.map((i) => ({ i })) }, list, Object.fromEntries(list.map((i) => [`key ${i}`, i]))])
    for (const indent of [0, 2]) {
      const { result, pauses } = finished(formattingJson(many, indent));
      expect(result).toBe(formatJson(many, indent));
      expect(pauses).toBeGreaterThan(20);
    }
});

function finished<Result>(work: Generator<void, Result>): { result: Result; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { result: value, pauses };
  }
}

describe('pieces side by side', () => {
  const plain = { ...MONO };
  for (const key of Object.keys(plain) as (keyof typeof plain)[]) plain[key] = '';

  test('are cut at the edge, and nothing is behind a cut', () => {
    expect(
      renderPieces(
        plain,
        [
          ['plain', 'abcdef'],
          ['plain', 'g'],
        ],
        4,
      ),
    ).toBe('abc…');
    expect(
      renderPieces(
        plain,
        [
          ['plain', 'ab'],
          ['plain', 'cdef'],
        ],
        4,
      ),
    ).toBe('abc…');
  });

  test('the right edge stays whole, the left gives way; where it has no room at all the left has it', () => {
    expect(renderEdges(plain, [['plain', 'left side']], [['plain', 'right']], 10)).toBe('lef… right');
    expect(renderEdges(plain, [['plain', 'l']], [['plain', 'right']], 10)).toBe('l    right');
    expect(renderEdges(plain, [['plain', 'left side']], [['plain', 'right']], 5)).toBe('right');
    expect(renderEdges(plain, [['plain', 'left side']], [['plain', 'right']], 4)).toBe('lef…');
  });
});

test('an outcome is one line: where, what, how long', () => {
  const outcome = {
    locator: 'a\x1b.jsonl:1',
    turn: 2,
    call: 0,
    name: 'f',
    time: { min: 0.1, median: 0.2, max: 0.3 },
    backend: 'bubblewrap',
    edited: false,
    attempts: [{}, {}],
    status: 'drift',
    verdict: 'different',
    reason: 'because',
  };
  expect(outcomeLine(outcome as never)).toBe(
    'a␛.jsonl:1#t2  call 0 f: drift: different (because), 200 ms (100 ms to 300 ms), bubblewrap',
  );
  expect(outcomeLine({ ...outcome, attempts: [{}], edited: true, status: 'error', verdict: null } as never)).toContain(
    'f, edited: error: because, 200 ms, bubblewrap',
  );
  expect(
    diffLines([
      { op: 'skipped', lines: 3 },
      { op: 'removed', text: 'a\x07' },
      { op: 'added', text: 'b' },
    ]),
  ).toEqual(['  … 3 equal lines', '- a␇', '+ b']);
});
