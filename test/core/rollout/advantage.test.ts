import { expect, test } from 'vitest';
import { groupAdvantages } from '../../../src/core/rollout/advantage.ts';
import { countMask, inferLossMask, isLaid, orTrained, trainedShare } from '../../../src/core/rollout/loss-mask.ts';

const rounded = (values: (number | null)[]) => values.map((value) => value && Math.round(value * 1e6) / 1e6);

test("advantages are verl's: a rollout alone has mean 0 and deviation 1 in GRPO, and none in the others", () => {
  expect(rounded(groupAdvantages([0.5]))).toEqual([0.5]);
  expect(groupAdvantages([0.5], 'rloo')).toEqual([null]);
  expect(groupAdvantages([0.5], 'dr_grpo')).toEqual([null]);
  const [one, other] = groupAdvantages([2, 0]);
  expect(one).toBeCloseTo(Math.SQRT1_2, 5);
  expect(other).toBe(-one!);
  expect(groupAdvantages([1, 0], 'dr_grpo')).toEqual([0.5, -0.5]);
  expect(groupAdvantages([1, 0], 'rloo')).toEqual([1, -1]);
});

test('a score that is not finite has no advantage and is left out of the group', () => {
  expect(groupAdvantages([1, Number.NaN, 0], 'dr_grpo')).toEqual([0.5, null, -0.5]);
});

const span = (trained: boolean | null, kind: 'text' | 'marker' = 'text', length = 10, field = 'output') => ({
  field,
  start: 0,
  end: length,
  kind,
  trained,
});

test('the mask is counted over the response alone; an unknown end token is not unknown text', () => {
  expect(
    countMask([span(true), span(null), span(null, 'marker'), span(false), span(true, 'text', 5, 'input')], ['output']),
  ).toEqual({
    trainedChars: 10,
    unknownChars: 10,
    totalChars: 40,
  });
});

test('a mask that nothing implies is unknown; an empty one is inferred', () => {
  expect(inferLossMask([span(null)], ['output']).source).toBe('unknown');
  expect(inferLossMask([span(null), span(true)], ['output']).source).toBe('inferred');
  expect(inferLossMask([], ['output']).source).toBe('inferred');
});

test('the trained share goes by tokens where they are known, and does not exist for nothing', () => {
  const mask = { ...inferLossMask([span(true), span(false, 'text', 30)], ['output']) };
  expect(trainedShare(mask)).toBe(0.25);
  expect(trainedShare({ ...mask, trainedTokens: 3, totalTokens: 4 })).toBe(0.75);
  expect(trainedShare({ ...mask, trainedTokens: 0, totalTokens: 0 })).toBeNull();
  expect(trainedShare(inferLossMask([span(null)], ['output']))).toBeNull();
});

test('what was laid by a trainer, and the mask of a turn from those of its pieces', () => {
  expect(
    (['recorded', 'rewritten', 'tokens', 'declared', 'inferred', 'unknown'] as const).map((source) =>
      isLaid({ source }),
    ),
  ).toEqual([true, true, true, false, false, false]);
  expect([orTrained(true, null), orTrained(null, true), orTrained(null, false), orTrained(false, false)]).toEqual([
    true,
    true,
    null,
    false,
  ]);
});
