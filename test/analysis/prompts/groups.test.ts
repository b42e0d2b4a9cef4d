// The numbers of a group, the table of groups and the matrix of prompts and steps, against plain implementations.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { membersByNumber } from '../../../src/analysis/facts/members.ts';
import { groupStats, passChance } from '../../../src/analysis/prompts/group-stats.ts';
import {
  deadShare,
  type GroupFacts,
  groupPassChance,
  groupTable,
  signalBySteps,
} from '../../../src/analysis/prompts/group-table.ts';
import { cellAt, promptMatrix } from '../../../src/analysis/prompts/matrix.ts';

/** All sets of k of n things. */
function choose<T>(things: readonly T[], k: number): T[][] {
  if (k === 0) return [[]];
  return things.flatMap((thing, i) => choose(things.slice(i + 1), k - 1).map((rest) => [thing, ...rest]));
}

const score = fc.oneof(fc.constantFrom(0, 1, 0.5, Number.NaN), fc.double({ min: -5, max: 5, noNaN: true }));

describe('a group', () => {
  test('has the pass@k of drawing every k of its answers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        (answers, k) => {
          const c = answers.filter(Boolean).length;
          const found = passChance(answers.length, c, k);
          if (k > answers.length) expect(found).toBeNull();
          else {
            const sets = choose(answers, k);
            expect(found).toBeCloseTo(sets.filter((set) => set.includes(true)).length / sets.length, 12);
          }
        },
      ),
    );
  });

  test('has the mean, spread and ends of the scores that are known', () => {
    fc.assert(
      fc.property(fc.array(score, { maxLength: 12 }), (scores) => {
        const stats = groupStats(scores);
        const finite = scores.filter(Number.isFinite);
        expect([stats.n, stats.scored]).toEqual([scores.length, finite.length]);
        expect(stats.best).toBe(finite.length === 0 ? null : Math.max(...finite) + 0);
        if (finite.length === 0) return;
        const mean = finite.reduce((sum, one) => sum + one, 0) / finite.length;
        expect(stats.mean).toBeCloseTo(mean, 9);
        expect(stats.worst).toBe(Math.min(...finite) + 0);
        expect(stats.passed).toBe(finite.filter((one) => one >= 0.5).length);
        const spread = Math.sqrt(finite.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (finite.length - 1));
        if (finite.length > 1) expect(stats.spread).toBeCloseTo(spread, 9);
        else expect(stats.spread).toBeNull();
      }),
    );
  });

  test.each([
    [[1, 1, 1], 'none'],
    [[0, 0, 1, 0], 'outlier'],
    [[1, 0], 'yes'],
    [[0, 0, 1, 1], 'yes'],
    [[0, 0.5, 1], 'yes'],
    [[1], 'unknown'],
    [[], 'unknown'],
    [[1, Number.NaN, 1], 'none'],
    [[Number.POSITIVE_INFINITY, Number.NaN], 'unknown'],
  ])('%j has the signal %s', (scores, signal) => expect(groupStats(scores).signal).toBe(signal));

  test('of 5,000 is no trouble', () => {
    const stats = groupStats(Float64Array.from({ length: 5000 }, (_, i) => i % 2));
    expect([stats.mean, stats.passed]).toEqual([0.5, 2500]);
    expect(passChance(5000, 1, 4000)).toBeCloseTo(0.8, 9);
  });
});

interface Planted {
  score?: number;
  step?: number;
  group: number;
  prompt?: number;
  stream?: string;
  fault?: string;
}

const facts = (rows: readonly Planted[]): GroupFacts => ({
  length: rows.length,
  numbers: (name) => Float64Array.from(rows, ({ score }) => (name === 'score' ? score : undefined) ?? Number.NaN),
  reader: (name) => (row) =>
    name === 'stream' ? (rows[row]?.stream ?? 'train') : name === 'fault' ? rows[row]?.fault : rows[row]?.step,
  groups: Int32Array.from(rows, ({ group }) => group),
  prompts: Int32Array.from(rows, ({ prompt, group }) => prompt ?? group),
});

describe('the table of groups', () => {
  test('keeps the rows of each number in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 5 })), (numbers) => {
        const members = membersByNumber(Int32Array.from(numbers));
        for (let number = 0; number < members.length; number++)
          expect([...members.of(number)]).toEqual(numbers.flatMap((one, row) => (one === number ? [row] : [])));
      }),
    );
  });

  test('leaves out rollouts without a group, and groups that a filter emptied', () => {
    const table = groupTable(
      facts([
        { group: -1, score: 1 },
        { group: 3, score: 1 },
        { group: 3, score: 0 },
      ]),
    );
    expect(table.map(({ rows, mean }) => [[...rows], mean])).toEqual([[[1, 2], 0.5]]);
    expect(groupPassChance(table[0]!, 1)).toBe(0.5);
    expect(groupPassChance(table[0]!, 3)).toBeNull();
  });

  test('distinguishes zeros that the world made from those of the model', () => {
    const of = (fault: string, score = 0) =>
      groupTable(
        facts([
          { group: 0, score, fault },
          { group: 0, score: 1 },
        ]),
      )[0]!.blameless;
    expect([of('world'), of('ours'), of('model'), of('tool'), of('world', 0.5)]).toEqual([1, 1, 0, 0, 0]);
  });

  test('sums up a step that was written twice as one, and steps that are not known as the last', () => {
    const table = groupTable(
      facts([
        { group: 0, step: 4, score: 1 },
        { group: 0, step: 4, score: 1 },
        { group: 1, score: 0 },
        { group: 1, score: 1 },
        { group: 2, step: 4, score: 1 },
        { group: 2, step: 4, score: 0 },
        { group: 3, step: 2, score: 1 },
      ]),
    );
    const steps = signalBySteps(table);
    expect(steps.map(({ step, groups, none, unknown }) => [step, groups, none, unknown])).toEqual([
      [2, 1, 0, 1],
      [4, 2, 1, 0],
      [Number.NaN, 1, 0, 0],
    ]);
    expect(steps.map(deadShare)).toEqual([null, 0.5, 0]);
  });
});

describe('the matrix of prompts and steps', () => {
  const table = (means: readonly (readonly [prompt: number, step: number, mean: number])[]) =>
    groupTable(facts(means.map(([prompt, step, mean], group) => ({ prompt, step, score: mean, group }))));

  test('says when a prompt was learned and when forgotten, the largest swing first', () => {
    const { steps, rows } = promptMatrix(
      table([
        [0, 1, 0],
        [0, 5, 1],
        [0, 9, 1],
        [1, 1, 1],
        [1, 5, 1],
        [1, 9, 0.25],
        [2, 5, 0.5],
      ]),
      0.5,
    );
    expect(steps).toEqual([1, 5, 9]);
    expect(rows.map(({ prompt, swing, learned, forgotten }) => [prompt, swing, learned, forgotten])).toEqual([
      [0, 1, 5, null],
      [1, 0.75, null, null],
      [2, 0, 5, null],
    ]);
    expect(rows.map((row) => steps.map((step) => cellAt(row, step)?.mean ?? null))).toEqual([
      [0, 1, 1],
      [1, 1, 0.25],
      [null, 0.5, null],
    ]);
  });

  test('a prompt is forgotten if enough rollouts say so: one bad step at the end is no verdict', () => {
    const run = (of: (step: number) => number) => {
      const rows = Array.from({ length: 20 }, (_, i) => i + 1).flatMap((step) =>
        Array.from({ length: 4 }, (_, member) => ({
          prompt: 0,
          step,
          score: member < 4 * of(step) ? 1 : 0,
          group: step,
        })),
      );
      return promptMatrix(groupTable(facts(rows)), 0.5).rows[0]!.forgotten;
    };
    expect(run((step) => (step < 12 ? 1 : 0))).toBe(12);
    expect(run((step) => (step < 12 ? 0.75 : 0.25))).toBe(12);
    expect(run((step) => (step < 20 ? 1 : 0))).toBeNull();
    expect(run((step) => (step % 3 === 0 || step > 18 ? 0.25 : 0.75))).toBeNull();
  });

  test('a step that was written twice has the groups that were read last; an unknown step is a separate column', () => {
    const { steps, rows } = promptMatrix(
      table([
        [0, 3, 0],
        [0, 3, 1],
        [0, Number.NaN, 0.5],
      ]),
      0.5,
    );
    expect(steps).toEqual([3, Number.NaN]);
    expect(rows[0]!.cells.map(({ mean }) => mean)).toEqual([1, 0.5]);
    expect(cellAt(rows[0]!, Number.NaN)?.mean).toBe(0.5);
  });

  test('equals a plain table of means', () => {
    const group = fc.tuple(fc.nat(5), fc.nat(8), fc.constantFrom(0, 0.25, 0.5, 0.75, 1));
    fc.assert(
      fc.property(fc.array(group, { minLength: 1 }), (groups) => {
        const { steps, rows } = promptMatrix(table(groups), 0.5);
        const plain = new Map(groups.map(([prompt, step, mean]) => [`${prompt} ${step}`, mean]));
        for (const row of rows) {
          const means = steps.map((step) => plain.get(`${row.prompt} ${step}`) ?? null);
          expect(steps.map((step) => cellAt(row, step)?.mean ?? null)).toEqual(means);
          const known = means.filter((mean) => mean !== null);
          expect(row.swing).toBe(Math.max(...known) - Math.min(...known));
          const at = steps.filter((_, i) => means[i] !== null);
          const turns = known.map((mean, i) => mean >= 0.5 !== (known[i - 1] ?? 0) >= 0.5);
          const turned = turns.lastIndexOf(true);
          const isSolved = known.at(-1)! >= 0.5;
          expect(row.learned).toBe(isSolved ? at[turned]! : null);
          // Groups of one rollout are too few for a verdict, most of the time; a step that is named was a drop.
          if (row.forgotten !== null) {
            const i = at.indexOf(row.forgotten);
            expect([isSolved, known[i - 1]! >= 0.5, known[i]! < 0.5]).toEqual([false, true, true]);
          }
        }
      }),
    );
  });
});
