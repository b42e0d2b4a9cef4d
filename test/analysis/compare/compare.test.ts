// Two rollouts by turn and word, a group as a tree, two runs by prompt.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareRuns } from '../../../src/analysis/compare/runs.ts';
import { answerTree } from '../../../src/analysis/compare/tree.ts';
import { compareTurns } from '../../../src/analysis/compare/turns.ts';
import { readFactRows } from '../../../src/analysis/facts/fact-rows.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import type { Rollout } from '../../../src/core/rollout/rollout.ts';
import { type DumpFiles, writeDump } from '../../support/dump.ts';

const talk = (...turns: readonly (readonly [role: string, text: string])[]): Rollout =>
  ({ turns: turns.map(([role, text], index) => ({ index, role, text })) }) as unknown as Rollout;

describe('two rollouts', () => {
  test('pair equal turns, and mark by word where turns of one role differ', () => {
    const pairs = compareTurns(
      talk(['user', 'add 1 and 2'], ['assistant', 'it is 3'], ['tool', 'x']),
      talk(['user', 'add 1 and 2'], ['assistant', 'it is 4']),
    );
    expect(pairs.map(({ isSame, a, b }) => [isSame, a?.turn ?? null, b?.turn ?? null])).toEqual([
      [true, 0, 0],
      [false, 1, 1],
      [false, 2, null],
    ]);
    expect(pairs[1]!.a!.pieces.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['3']);
    expect(pairs[1]!.b!.pieces.filter(({ isOwn }) => isOwn).map(({ text }) => text)).toEqual(['4']);
  });

  test('tell results by line', () => {
    const [pair] = compareTurns(talk(['tool', 'n 1\nm 2\nk 3']), talk(['tool', 'n 1\nm 4\nk 3']));
    const own = (turn: typeof pair extends { a: infer T } | undefined ? T : never) =>
      turn?.pieces.filter(({ isOwn }) => isOwn).map(({ text }) => text);
    expect([own(pair?.a ?? null), own(pair?.b ?? null)]).toEqual([['m 2\n'], ['m 4\n']]);
  });

  test('show every turn of both once, in order, with all of its text', () => {
    const turns = fc.array(
      fc.tuple(fc.constantFrom('user', 'assistant', 'tool'), fc.constantFrom('', 'a', 'a b', 'b c a')),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(turns, turns, (first, second) => {
        const pairs = compareTurns(talk(...first), talk(...second));
        const told = (side: 'a' | 'b') =>
          pairs.flatMap((pair) => {
            const turn = pair[side];
            return turn === null ? [] : [[turn.role, turn.pieces.map(({ text }) => text).join('')]];
          });
        expect(told('a')).toEqual(first);
        expect(told('b')).toEqual(second);
        for (const { a, b } of pairs) if (a !== null && b !== null) expect(a.role).toBe(b.role);
      }),
    );
  });
});

describe('a group as a tree', () => {
  test('parts where the answers part, with n and the mean of each branch', () => {
    const branches = answerTree([
      { text: 'let x be two so four', score: 1 },
      { text: 'let x be two so five', score: 0 },
      { text: 'let y be', score: null },
    ]);
    expect(branches.map(({ depth, text, n, mean }) => [depth, text, n, mean])).toEqual([
      [0, 'let', 3, 0.5],
      [1, ' x be two so', 2, 0.5],
      [2, ' four', 1, 1],
      [2, ' five', 1, 0],
      [1, ' y be', 1, null],
    ]);
  });

  test('gives every answer back along its branches', () => {
    const answer = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(fc.array(answer, { minLength: 1, maxLength: 8 }), (texts) => {
        const branches = answerTree(texts.map((text) => ({ text, score: 0 })));
        for (const [i, text] of texts.entries())
          expect(
            branches
              .filter(({ members }) => members.includes(i))
              .map((branch) => branch.text)
              .join(''),
          ).toBe(text);
      }),
    );
  });

  test('of 5,000 answers is made, also where they part at every word', () => {
    const answers = Array.from({ length: 5000 }, (_, i) => ({
      text: `${'so '.repeat(i % 400)}end ${i}`,
      score: i % 2,
    }));
    expect(answerTree(answers)[0]).toMatchObject({ n: 5000, mean: 0.5 });
  });
});

describe('two runs', () => {
  const record = (prompt: string, score: number | null) => ({
    input: `user\n${prompt}\nassistant\n`,
    output: 'done',
    gts: '1',
    ...(score === null ? {} : { score }),
    step: 1,
  });
  const read = async (files: DumpFiles) => {
    const { dir, remove } = writeDump(files);
    const dump = Dump.open([dir]);
    return { facts: await readFactRows(dump, null), close: () => [dump.close(), remove()] };
  };

  test('are joined by prompt: won, lost, flipped, never scored, in one alone', async () => {
    const a = await read({
      '1.jsonl': [record('p', 0), record('p', 0), record('q', 1), record('r', 1), record('s', 1), record('t', null)],
    });
    const b = await read({
      '9.jsonl': [record('q', 0.75), record('p', 1), record('p', 1), record('r', 1), record('u', 1), record('t', 1)],
    });
    try {
      const pairs = await compareRuns(a.facts, b.facts);
      const said = pairs.map(({ outcome, isFlip, difference, a: one, b: two }) => [
        outcome,
        isFlip,
        difference,
        one?.n ?? 0,
        two?.n ?? 0,
      ]);
      expect(said.slice(0, 3)).toEqual([
        ['won', true, 1, 2, 2],
        ['lost', false, -0.25, 1, 1],
        ['same', false, 0, 1, 1],
      ]);
      expect(
        said
          .slice(3)
          .map(([outcome]) => outcome)
          .sort(),
      ).toEqual(['first', 'never scored', 'second']);
    } finally {
      a.close();
      b.close();
    }
  });

  test('the same scores in another order are the same', async () => {
    const scores = [0.1, 0.2, 0.3, 0.7, 1.1];
    const a = await read({ '1.jsonl': [record('q', 1), ...scores.map((score) => record('p', score))] });
    const b = await read({ '1.jsonl': [record('q', 1), ...[...scores].reverse().map((score) => record('p', score))] });
    try {
      const pairs = await compareRuns(a.facts, b.facts, { pass: 0.48 });
      expect(pairs).toHaveLength(2);
      for (const pair of pairs) expect(pair).toMatchObject({ outcome: 'same', difference: 0, isFlip: false });
    } finally {
      a.close();
      b.close();
    }
  });
});
