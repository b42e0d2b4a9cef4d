import { expect, test } from 'vitest';
import { readFactRows } from '../../src/analysis/facts/fact-rows.ts';
import { bootstrapPlaces } from '../../src/analysis/prompts/bootstrap.ts';
import { type Validation, validationOf } from '../../src/analysis/prompts/validation.ts';
import { Dump } from '../../src/core/dump/dump.ts';
import { writeDump } from '../support/dump.ts';

/** One prompt's; another one is beside it, for a prompt alone is no group. */
async function figures(records: readonly object[]): Promise<Validation> {
  const lines = records.map((one) => ({ input: 'user\nq\nassistant\n', output: 'a', ...one }));
  const other = { input: 'user\nother\nassistant\n', output: 'a', score: 0, data_source: 'other' };
  const { dir, remove } = writeDump({ '1.jsonl': [...lines, other, other] });
  const dump = Dump.open([dir]);
  try {
    return validationOf(await readFactRows(dump, null), 'score', [...records.keys()]);
  } finally {
    dump.close();
    remove();
  }
}

const figureOf = ({ figures }: Validation, name: string) => figures.find(({ metric }) => metric === name)?.value;

test('places are those of np.random.seed(42) and np.random.randint', () => {
  expect([...bootstrapPlaces(100, 5)].slice(0, 5)).toEqual([51, 92, 14, 71, 60]);
  expect([...bootstrapPlaces(10, 10)].slice(0, 10)).toEqual([6, 3, 7, 4, 6, 9, 2, 6, 7, 4]);
  expect(new Set(bootstrapPlaces(1, 3))).toEqual(new Set([0]));
});

test('the answer that most gave decides maj@N: what it scored, not the share of it', async () => {
  const votes = (preds: readonly (string | number)[]) =>
    figures(preds.map((pred) => ({ pred, score: pred === 'right' || pred === 7 ? 1 : 0 })));
  expect(figureOf(await votes(['right', 'right', 'right']), 'maj@3/mean')).toBe(1);
  const close = await votes(['right', 'wrong', 'wrong']);
  // Of 27 draws of three 7 have two right ones or more; three different answers would be rarer to agree.
  expect(figureOf(close, 'maj@3/mean')).toBeCloseTo(7 / 27, 1);
  expect(figureOf(close, 'best@3/mean')).toBeCloseTo(1 - 8 / 27, 1);
  expect(figureOf(await votes([7, 7, 7, 7]), 'maj@4/mean')).toBe(1);
});

test('there is no vote where an answer is missing, and no figure where a score is', async () => {
  const some = await figures([{ pred: 'a', score: 1 }, { score: 0 }]);
  expect(some.figures.map(({ metric }) => metric)).toEqual([
    'mean@2',
    'std@2',
    'best@2/mean',
    'best@2/std',
    'worst@2/mean',
    'worst@2/std',
  ]);
  const none = await figures([{ score: 1 }, { score: null }]);
  expect(none).toEqual({ figures: [], unknown: 1 });
});
