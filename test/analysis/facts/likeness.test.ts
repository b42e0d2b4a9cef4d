import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readFactRows } from '../../../src/analysis/facts/fact-rows.ts';
import { copiesIn, sharedOpenings } from '../../../src/analysis/facts/likeness.ts';
import { membersByNumber } from '../../../src/analysis/facts/members.ts';
import { compileQuery } from '../../../src/analysis/query/query.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { writeDump } from '../../support/dump.ts';

const bitsApart = (a: number, b: number): number => (a ^ b).toString(2).replaceAll('0', '').length;

describe('copies within a group', () => {
  test('are those of a plain count, in small groups and in large ones', () => {
    const gist = fc.oneof(fc.integer({ min: 0, max: 7 }), fc.constant(Number.NaN));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 }), fc.array(gist, { maxLength: 120 }), (span, cells) => {
        const groups = Int32Array.from(cells, (_, row) => (row % (span + 1)) - 1);
        const found = copiesIn(membersByNumber(groups), Float64Array.from(cells));
        for (const [row, own] of cells.entries()) {
          if (groups[row] === -1 || Number.isNaN(own)) {
            expect(found[row]).toBeNaN();
            continue;
          }
          const near = cells.filter(
            (one, at) => at !== row && groups[at] === groups[row] && !Number.isNaN(one) && bitsApart(one, own) <= 1,
          );
          expect(found[row]).toBe(near.length);
        }
      }),
    );
  });

  test('are found in a dump, and openings that many share', async () => {
    const words = 'the shop sells apples and pears for two dollars each so that ten of them cost twenty';
    const record = (prompt: string, output: string) => ({
      input: `user\n${prompt}\nassistant\n`,
      output,
      score: 1,
      step: 1,
    });
    const { dir, remove } = writeDump({
      '1.jsonl': [
        record('p', words),
        record('p', `${words} dollars`),
        record('p', 'no idea what to say about that at all here today'),
        record('q', `${words.split(' ').slice(0, 8).join(' ')} is what I read, and it does not help me here`),
      ],
    });
    const dump = Dump.open([dir]);
    try {
      const facts = await readFactRows(dump, null);
      expect([...facts.numbers('copies')]).toEqual([1, 1, 0, 0]);
      expect([...facts.numbers('opening_share')]).toEqual([2 / 3, 2 / 3, 0, 2 / 3]);
      expect((await readFactRows(dump, compileQuery('copies > 0 && opening_share > 0.5'))).length).toBe(2);
    } finally {
      dump.close();
      remove();
    }
  });
});

test('the share of an opening is of the others of its step, and unknown without others', () => {
  const units = Uint32Array.from([0, 0, 0, 1, 2, 2]);
  const openings = Float64Array.from([5, 5, 6, 5, Number.NaN, 5]);
  expect([...sharedOpenings(units, openings)]).toEqual([0.5, 0.5, 0, Number.NaN, Number.NaN, Number.NaN]);
});

test('the share of a step that begins alike is that of a plain count', () => {
  const row = fc.tuple(fc.nat({ max: 3 }), fc.oneof(fc.nat({ max: 4 }), fc.constant(Number.NaN)));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      const [units, openings] = [rows.map(([unit]) => unit), rows.map(([, opening]) => opening)];
      const found = sharedOpenings(Uint32Array.from(units), Float64Array.from(openings));
      for (const [at, [unit, opening]] of rows.entries()) {
        const others = rows.filter(([own, one], i) => i !== at && own === unit && !Number.isNaN(one));
        const alike = others.filter(([, one]) => one === opening);
        const wanted = Number.isNaN(opening) || others.length === 0 ? Number.NaN : alike.length / others.length;
        expect(found[at]).toBe(wanted);
      }
    }),
  );
});
