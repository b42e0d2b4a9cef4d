import type { Printable } from '../../core/json/print.ts';
import { formatCount } from '../../core/text/numbers.ts';
import type { RunOutcome, RunPair } from '../compare/runs.ts';
import type { FactRows } from '../facts/fact-rows.ts';
import { column, ownColumn } from './columns.ts';
import { locatorText, type Report } from './report.ts';

const OUTCOMES: Record<RunOutcome, string> = {
  won: 'won',
  lost: 'lost',
  same: 'same',
  'never scored': 'never scored',
  first: 'only in a',
  second: 'only in b',
};

export const outcomeText = ({ outcome, isFlip }: RunPair): string => `${OUTCOMES[outcome]}${isFlip ? ', flip' : ''}`;

/** How many prompts had each outcome. */
export function outcomeCounts(pairs: readonly RunPair[]): [string, string] {
  const count = (wanted: RunOutcome): string => formatCount(pairs.filter(({ outcome }) => outcome === wanted).length);
  const flips = formatCount(pairs.filter(({ isFlip }) => isFlip).length);
  return [
    `won ${count('won')}, lost ${count('lost')}, same ${count('same')}, flips ${flips}`,
    `never scored ${count('never scored')}, only in a ${count('first')}, only in b ${count('second')}`,
  ];
}

/** Two runs joined by prompt. @param names of a and b */
export function runsReport(
  [a, b]: readonly [string, string],
  [first, second]: readonly [FactRows, FactRows],
  pairs: readonly RunPair[],
): Report<RunPair> {
  const placeOf = (pair: RunPair) =>
    pair.a !== null ? first.place(pair.a.row) : pair.b !== null ? second.place(pair.b.row) : null;
  const side = (facts: FactRows, one: RunPair['a']): Printable =>
    one && { locator: locatorText(facts.place(one.row)), n: one.n, scored: one.scored, mean: one.mean };
  return {
    title: `a: ${a}  b: ${b}`,
    columns: [
      {
        key: 'outcome.words',
        title: 'outcome',
        type: 'text',
        meaning: 'won: b is better; flip: solved in one of the two alone',
        identifies: true,
        value: outcomeText,
      },
      ownColumn('difference', 'change', 'mean of b less mean of a'),
      column('a.mean', 'mean a', 'mean', 'mean score in a', (pair) => pair.a?.mean ?? null),
      column('b.mean', 'mean b', 'mean', 'mean score in b', (pair) => pair.b?.mean ?? null),
      { key: 'a.n', title: 'n a', type: 'count', meaning: 'rollouts in a', value: (pair) => pair.a?.n ?? 0 },
      { key: 'b.n', title: 'n b', type: 'count', meaning: 'rollouts in b', value: (pair) => pair.b?.n ?? 0 },
      {
        key: 'prompt.first',
        title: 'prompt',
        type: 'prompt',
        meaning: 'the prompt, by the first rollout that has it',
        grows: true,
        value: placeOf,
      },
      {
        key: 'b.locator',
        title: 'in b',
        type: 'rollout',
        meaning: 'its first rollout in b',
        value: (pair) => (pair.b === null ? null : second.place(pair.b.row)),
      },
    ],
    rows: pairs,
    details: (pair) => ({
      outcome: pair.outcome,
      flip: pair.isFlip,
      a: side(first, pair.a),
      b: side(second, pair.b),
    }),
    notes: pairs.length === 0 ? [] : outcomeCounts(pairs),
    empty: 'no prompts: nothing says which rollouts share one',
  };
}
