import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agreementOf, pairwise, type Rating } from '../../src/analysis/agreement.ts';

/** A table with a line a rater and a character a thing; a dot is no label. */
const table = (...rows: string[]): Rating[] =>
  rows.flatMap((row, i) =>
    [...row].flatMap((label, unit) => (label === '.' ? [] : [{ unit: String(unit), rater: 'abcd'[i]!, label }])),
  );

test("kappa of Cohen's own shape: 20 and 15 of 50 the same, 25 and 30 yes: 0.4", () => {
  const first = 'y'.repeat(25) + 'n'.repeat(25);
  const second = 'y'.repeat(20) + 'n'.repeat(5) + 'y'.repeat(10) + 'n'.repeat(15);
  const found = agreementOf(table(first, second))!;
  expect(found).toMatchObject({ measure: 'kappa', units: 50, observed: 0.7 });
  expect(found.value).toBeCloseTo(0.4, 12);
});

test("alpha of Krippendorff's example C, four observers, twelve units, gaps: 0.743", () => {
  // The published table: A 1 2 3 3 2 1 4 1 2 . . . ; B 1 2 3 3 2 2 4 1 2 5 . 3 ; C . 3 3 3 2 3 4 2 2 5 1 . ; D 1 2 3 3 2 4 4 1 2 5 1 .
  const published = agreementOf(table('123321412...', '1233224125.3', '.3332342251.', '12332441251.'));
  expect(published?.measure).toBe('alpha');
  expect(published?.units).toBe(11);
  expect(published?.value).toBeCloseTo(0.743, 3);
});

test('one label alone says nothing beyond chance; less than chance is below 0', () => {
  expect(agreementOf(table('aaaa', 'aaaa'))).toMatchObject({ observed: 1, value: null });
  expect(agreementOf(table('aabb', 'bbaa'))?.value).toBe(-1);
  expect(agreementOf(table('aab', 'aab', 'aab'))?.value).toBe(1);
});

test('without two raters on one thing there is no agreement', () => {
  expect(agreementOf([])).toBeNull();
  expect(agreementOf(table('ab..', '..ab'))).toBeNull();
});

test('each pair of raters is distinguished', () => {
  const found = pairwise(table('aabb', 'aabb', 'aaab'));
  expect(found.map(({ raters, observed }) => [raters.join(), observed])).toEqual([
    ['a,b', 1],
    ['a,c', 0.75],
    ['b,c', 0.75],
  ]);
});

/** Plain alpha: disagreement in pairs within things against that of all pairs. */
function plainAlpha(units: string[][]): number {
  const kept = units.filter(({ length }) => length > 1);
  const all = kept.flat();
  let within = 0;
  for (const labels of kept)
    for (const [i, a] of labels.entries())
      for (const [j, b] of labels.entries()) if (i !== j && a !== b) within += 1 / (labels.length - 1);
  let between = 0;
  for (const [i, a] of all.entries()) for (const [j, b] of all.entries()) if (i !== j && a !== b) between++;
  return 1 - within / all.length / (between / (all.length * (all.length - 1)));
}

test('alpha is one minus the disagreement within things over that of all pairs', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom('a', 'b', 'c', '.'), { minLength: 3, maxLength: 3 }), {
        minLength: 2,
        maxLength: 12,
      }),
      (units) => {
        const ratings = units.flatMap((labels, unit) =>
          labels.flatMap((label, i) => (label === '.' ? [] : [{ unit: String(unit), rater: String(i), label }])),
        );
        const found = agreementOf(ratings);
        if (found?.measure !== 'alpha' || found.value === null) return;
        expect(found.value).toBeCloseTo(plainAlpha(units.map((labels) => labels.filter((one) => one !== '.'))), 9);
      },
    ),
  );
});
