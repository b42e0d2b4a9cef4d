import { expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { triage } from '../../src/analysis/triage.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { verlLine } from '../program.ts';
import { writeDump } from '../support/dump.ts';

/** The scores of rollouts that are picked as among the best, and as among the worst. */
async function ends(scores: readonly number[]): Promise<{ best: number[]; worst: number[] }> {
  const lines = scores.map((score, i) => verlLine({ input: `user\nquestion ${i}\nassistant\n`, score }));
  const { dir, remove } = writeDump({ '1.jsonl': lines });
  const dump = Dump.open([dir]);
  try {
    const facts = await readFactRows(dump, null);
    const picks = await triage(facts, { n: scores.length, seed: 1 });
    const scoresOf = (kind: string): number[] =>
      picks.filter((pick) => pick.kind === kind).map(({ row }) => facts.numbers('score')[row] ?? Number.NaN);
    return { best: scoresOf('best'), worst: scoresOf('worst') };
  } finally {
    dump.close();
    remove();
  }
}

test('equal scores are neither among the best nor among the worst', async () => {
  expect(await ends([0, 0, 0, 0, 0])).toEqual({ best: [], worst: [] });
  const { best, worst } = await ends([0, 0, 0, 1, 1, 1]);
  expect([best.length > 0, worst.length > 0]).toEqual([true, true]);
  expect([best.every((score) => score === 1), worst.every((score) => score === 0)]).toEqual([true, true]);
});
