import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ESTIMATORS } from '../../src/analysis/advantages/estimators.ts';
import { advantagesOf, OF_A_DUMP } from '../../src/analysis/advantages/of-dump.ts';

const named = (name: string) => ESTIMATORS.find((one) => one.name === name)!;

describe('the rollouts of a dump', () => {
  const step = { scores: [1, 0, 0, 0], groups: ['a', 'a', 'a', 'a'], lengths: [10, 20, 30, 40] };
  const of = (name: string, change: Partial<typeof step> = {}, rows = [0, 1, 2, 3]) =>
    advantagesOf(named(name), { ...step, ...change }, rows);

  test('have every estimator but those that need a critic, a greedy answer or rewards by token', () => {
    expect(OF_A_DUMP.map(({ name }) => name)).toEqual([
      'grpo',
      'grpo_vectorized',
      'dr_grpo',
      'grpo_passk',
      'grpo_passk without std',
      'rloo',
      'rloo_vectorized',
      'opo',
      'gpg',
      'reinforce_plus_plus_baseline',
      'reinforce_plus_plus gamma 1.0',
    ]);
  });

  test('have none where a score, or the lengths that it needs, are not known', () => {
    expect(of('grpo', { scores: [1, Number.NaN, 0, 0] })).toBe('a score is missing');
    expect(of('opo', { lengths: [10, Number.NaN, 1, 1] })).toBe('the trained tokens were not recorded');
    expect(of('grpo', {}, [0])).toBe('a rollout alone has nothing to compare with');
    expect(of('reinforce_plus_plus gamma 1.0', { lengths: [0, 0, 0, 0] })).toBe('verl refuses such a batch');
  });

  test('weigh by length as if every token stood for itself', () => {
    const member = fc.record({
      score: fc.double({ min: -2, max: 2, noNaN: true }),
      length: fc.integer({ min: 1, max: 6 }),
    });
    const perToken = OF_A_DUMP.filter(({ isByLength }) => isByLength);
    expect(perToken).toHaveLength(3);
    fc.assert(
      fc.property(
        fc.array(member, { minLength: 2, maxLength: 6 }),
        fc.constantFrom(...perToken),
        (members, estimator) => {
          const scores = members.map(({ score }) => score);
          // Where all but equal values are divided by their deviation the last bit decides.
          fc.pre(Math.max(...scores) - Math.min(...scores) > 1e-3);
          const lengths = members.map(({ length }) => length);
          const groups = members.map(() => 'a');
          const width = Math.max(...lengths);
          const tokens = estimator.advantages({
            rewards: members.map(({ score, length }) =>
              Array.from({ length: width }, (_, t) => (t === length - 1 ? score : 0)),
            ),
            masks: members.map(({ length }) => Array.from({ length: width }, (_, t) => (t < length ? 1 : 0))),
            groups,
          })!;
          const found = advantagesOf(
            estimator,
            { scores, groups, lengths },
            scores.map((_, i) => i),
          ) as number[];
          for (const [i, value] of found.entries()) expect(value).toBeCloseTo(tokens[i]![0]!, 3);
        },
      ),
    );
  });
});
