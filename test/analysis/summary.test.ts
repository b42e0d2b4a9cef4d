import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Summary } from '../../src/analysis/summary.ts';
import { verl } from '../../src/formats/verl.ts';
import { Facts, factRow } from '../../src/rollout/facts.ts';

const rollout = (output: string) =>
  verl.read({ input: 'user\nq\nassistant\n', output, gts: '1', score: 1, step: 1 }, { validation: false });
const facts = (output: string): Facts => {
  const read = rollout(output);
  return new Facts(factRow(read, read.findings));
};

test('mean and deviation are those of the finite scores, by the plain formulas', () => {
  const score = fc.oneof(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.constantFrom(Number.NaN, Infinity, null));
  fc.assert(
    fc.property(fc.array(score), (scores) => {
      const summary = new Summary();
      for (const one of scores) summary.add(one, facts('5'));
      const known = scores.filter((one): one is number => one !== null && Number.isFinite(one));
      const mean = known.reduce((sum, one) => sum + one, 0) / known.length;
      const deviation = Math.sqrt(known.reduce((sum, one) => sum + (one - mean) ** 2, 0) / known.length);
      const row = summary.row();
      expect([row.rollouts, row.scored]).toEqual([scores.length, known.length]);
      if (known.length === 0) expect([row.mean, row.deviation]).toEqual([null, null]);
      else {
        expect(Math.abs(row.mean! - mean)).toBeLessThan(1e-3);
        expect(Math.abs(row.deviation! - deviation)).toBeLessThan(1e-2);
      }
    }),
  );
});

test('a fact is a mean over the rollouts that tell it, a finding a count, a bad record neither', () => {
  const summary = new Summary();
  const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n';
  const failed = 'user\n<tool_response>\nError: no such file\n</tool_response>\nassistant\nNo.';
  summary.add(1, facts(call + failed));
  summary.add(0, facts('5'));
  summary.addBad();
  const { rollouts, bad, facts: means, findings } = summary.row();
  expect([rollouts, bad]).toEqual([2, 1]);
  expect(means.get('tool_calls')).toBe(0.5);
  // Only one of the two has a result of which it is known whether it failed.
  expect(means.get('tool_errors')).toBe(1);
  expect(means.get('tokens')).toBeNull();
  expect([...findings]).toEqual([['tool_error', 1]]);
});
