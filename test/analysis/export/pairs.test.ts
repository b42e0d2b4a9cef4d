import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BALANCES, balancedRows, bucketOf } from '../../../src/analysis/export/balance.ts';
import { type Candidate, PAIR_RULES, pairsInGroup } from '../../../src/analysis/export/pairs.ts';
import { parsePassRange } from '../../../src/analysis/export/pass-range.ts';
import { parseSplit, splitPart } from '../../../src/analysis/export/split.ts';

const candidates = fc
  .array(
    fc.record({
      prompt: fc.constantFrom('p', 'q'),
      score: fc.constantFrom(0, 0.5, 1, -1),
      chars: fc.integer({ min: 0, max: 50 }),
      turns: fc.array(fc.record({ hash: fc.constantFrom('a', 'b', 'c'), isReply: fc.boolean() }), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
    { maxLength: 12 },
  )
  .map((list): Candidate[] =>
    list.map((one, at) => ({ ...one, answer: one.turns.map(({ hash }) => hash).join(), locator: `d.jsonl:${at + 1}` })),
  );

const options = fc.record({
  rule: fc.constantFrom(...PAIR_RULES),
  margin: fc.constantFrom(0, 0.5, 1),
  lengthRatio: fc.constantFrom(1, 2, Number.POSITIVE_INFINITY),
});

test('a pair has one prompt, a better score than its other half by the margin, and comes once', () => {
  fc.assert(
    fc.property(candidates, options, (group, rules) => {
      const by = new Map(group.map((one) => [one.locator, one]));
      const plans = pairsInGroup(group, rules);
      const answer = (locator: string) => `${by.get(locator)?.prompt} ${by.get(locator)?.answer}`;
      const keys = plans.map(({ better, worse }) => [answer(better), answer(worse)].sort().join(' '));
      expect(new Set(keys).size).toBe(keys.length);
      for (const plan of plans) {
        const [better, worse] = [by.get(plan.better), by.get(plan.worse)];
        expect(better?.prompt).toBe(worse?.prompt);
        expect(better?.answer).not.toBe(worse?.answer);
        expect((better?.score ?? 0) - (worse?.score ?? 0)).toBeGreaterThan(0);
        expect((better?.score ?? 0) - (worse?.score ?? 0)).toBeGreaterThanOrEqual(rules.margin);
        const lengths = [better?.chars ?? 0, worse?.chars ?? 0];
        if (Number.isFinite(rules.lengthRatio))
          expect(Math.max(...lengths)).toBeLessThanOrEqual(Math.min(...lengths) * rules.lengthRatio);
        if (rules.rule !== 'turn') continue;
        const shared = [better, worse].map((answer) =>
          answer?.turns.slice(0, plan.sharedTurns).map(({ hash }) => hash),
        );
        expect(shared[0]).toEqual(shared[1]);
        const [one, other] = [better?.turns[plan.sharedTurns], worse?.turns[plan.sharedTurns]];
        expect(one?.hash).not.toBe(other?.hash);
        expect([one?.isReply, other?.isReply]).toEqual([true, true]);
      }
    }),
  );
});

test('best makes one pair of a prompt, all makes each, ladder goes down score by score', () => {
  const group = [1, 0.5, 0, 0].map((score, at) => ({
    locator: `${at}`,
    prompt: 'p',
    score,
    chars: 1,
    answer: `${at}`,
    turns: [{ hash: 'a', isReply: true }],
  }));
  const pairs = (rule: 'best' | 'all' | 'ladder') =>
    pairsInGroup(group, { rule, margin: 0, lengthRatio: Number.POSITIVE_INFINITY }).map(
      ({ better, worse }) => better + worse,
    );
  expect(pairs('best')).toEqual(['03']);
  expect(pairs('all')).toEqual(['01', '02', '03', '12', '13']);
  expect(pairs('ladder')).toEqual(['01', '12']);
});

test('best takes the worst answer that makes a pair', () => {
  fc.assert(
    fc.property(candidates, options, (group, rules) => {
      const best = pairsInGroup(group, { ...rules, rule: 'best' });
      const top = new Map<string, Candidate>();
      const ranked = [...group].sort((a, b) => b.score - a.score || (a.locator < b.locator ? -1 : 1));
      for (const one of ranked) if (!top.has(one.prompt)) top.set(one.prompt, one);
      const scores = new Map(group.map(({ locator, score }) => [locator, score]));
      const tops = new Set([...top.values()].map(({ locator }) => locator));
      const possible = pairsInGroup(group, { ...rules, rule: 'all' }).filter(({ better }) => tops.has(better));
      for (const better of tops) {
        const worst = possible.filter((plan) => plan.better === better).map(({ worse }) => scores.get(worse) ?? 0);
        const found = best.filter((plan) => plan.better === better).map(({ worse }) => scores.get(worse) ?? 0);
        // An answer that was sampled twice comes once in `all`, with its higher score.
        expect(found.length).toBe(Math.min(worst.length, 1));
        expect(Math.min(...found)).toBeLessThanOrEqual(Math.min(...worst));
      }
    }),
  );
});

test('a group of one, of equal scores or of NaN makes no pair', () => {
  const rules = { rule: 'all', margin: 0, lengthRatio: Number.POSITIVE_INFINITY } as const;
  for (const scores of [[1], [1, 1, 1], [Number.NaN, 1], []])
    expect(
      pairsInGroup(
        scores.map((score, at) => ({ locator: `${at}`, prompt: 'p', score, chars: 1, answer: `${at}`, turns: [] })),
        rules,
      ),
    ).toEqual([]);
});

describe('a split', () => {
  test('gives every prompt one part, the same for the same seed, and shares close to those asked for', () => {
    const parts = parseSplit('train=0.9, val=0.1');
    const places = Array.from({ length: 5000 }, (_, at) => splitPart(parts, `prompt ${at}`, '7'));
    expect(places).toEqual(Array.from({ length: 5000 }, (_, at) => splitPart(parts, `prompt ${at}`, '7')));
    const val = places.filter((name) => name === 'val').length;
    expect(val).toBeGreaterThan(400);
    expect(val).toBeLessThan(600);
    expect(places).not.toEqual(Array.from({ length: 5000 }, (_, at) => splitPart(parts, `prompt ${at}`, '8')));
  });

  test.each(['train', 'train=0', 'train=1,train=1', '=1', ''])('%j is refused', (text) => {
    expect(() => parseSplit(text)).toThrow();
  });
});

test('a range of pass rates', () => {
  const scoresOf = (share: number) => Array.from({ length: 4 }, (_, i) => (i < share * 4 ? 1 : 0));
  const passing = (text: string) => [0, 0.25, 0.5, 1].filter((share) => parsePassRange(text)(scoresOf(share)));
  expect(passing('0<pass<1')).toEqual([0.25, 0.5]);
  expect(passing('pass>=0.5')).toEqual([0.5, 1]);
  expect(passing('0.25 <= pass')).toEqual([0.25, 0.5, 1]);
  expect(passing('pass==0')).toEqual([0]);
  expect(passing('solved==1')).toEqual([0.25]);
  expect(passing('1<solved')).toEqual([0.5, 1]);
  expect(parsePassRange('pass>=0')([])).toBe(false);
  for (const text of ['pass', '0.5', 'pass<', 'solved', ''])
    expect(() => parsePassRange(text)).toThrow('is not a range');
});

const balanceRows = fc.uniqueArray(
  fc.record({
    locator: fc.string({ minLength: 1 }),
    task: fc.constantFrom('a', 'b', null),
    chars: fc.integer({ min: 0, max: 9 }),
    scores: fc.array(fc.constantFrom(0, 1), { maxLength: 4 }),
  }),
  { selector: ({ locator }) => locator, maxLength: 40 },
);

test('a balanced choice has equally many of each class, whatever the order, and drops none of the smallest', () => {
  fc.assert(
    fc.property(balanceRows, fc.constantFrom(...BALANCES), (rows, by) => {
      const rules = { buckets: 3, seed: '1' };
      const chosen = balancedRows(rows, by, rules);
      expect(
        new Set(
          [...rows]
            .reverse()
            .filter(({ locator }) => balancedRows([...rows].reverse(), by, rules).has(locator))
            .map(({ locator }) => locator),
        ),
      ).toEqual(chosen);
      if (by === 'length') return;
      const classOf = (row: (typeof rows)[number]) => (by === 'task' ? row.task : bucketOf(row.scores, 3));
      const sizes = (all: typeof rows) =>
        [...new Set(rows.map(classOf))].map((one) => all.filter((row) => classOf(row) === one).length);
      const kept = sizes(rows.filter(({ locator }) => chosen.has(locator)));
      expect(new Set(kept).size).toBeLessThanOrEqual(1);
      if (rows.length > 0) expect(kept[0]).toBe(Math.min(...sizes(rows)));
    }),
  );
});

test('buckets go from the prompts that were always solved to those that never were', () => {
  expect([[1, 1], [1, 0, 1, 1], [1, 0], [0, 0, 0, 1], [0, 0], []].map((scores) => bucketOf(scores, 4))).toEqual([
    0,
    1,
    2,
    3,
    3,
    null,
  ]);
});
