import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type FactRows, readFactRows } from '../../../src/analysis/facts/fact-rows.ts';
import { groupMeasure, SCORE_MEASURES } from '../../../src/analysis/facts/group-measures.ts';
import { numberGroups } from '../../../src/analysis/facts/group-numbers.ts';
import { membersByNumber } from '../../../src/analysis/facts/members.ts';
import { compileQuery } from '../../../src/analysis/query/query.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { shownAdvantages } from '../../../src/core/rollout/advantage.ts';

const folder = mkdtempSync(join(tmpdir(), 'facts-'));
let rows: FactRows;
let failures: FactRows;

const code = (text: string) => Number.parseInt(text, 36);

const line = (prompt: string, score: number, more = {}) =>
  JSON.stringify({ input: `user\n${prompt}\nassistant\n`, output: 'It is 5.', gts: '5', score, step: 1, ...more });

beforeAll(async () => {
  const one = [line('a', 1, { acc: 1, kind: 'x' }), line('b', 0), line('a', 0, { acc: 0.25 }), '{"cut'];
  writeFileSync(join(folder, '1.jsonl'), `${one.join('\n')}\n`);
  writeFileSync(join(folder, '2.jsonl'), `${[line('a', 1, { step: 2 }), line('c', 1, { step: 2 })].join('\n')}\n`);
  const dump = Dump.open([folder]);
  rows = await readFactRows(dump, null);
  failures = await readFactRows(dump, compileQuery('score == 0'));
  dump.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

test('columns with one number in all rows share a list, and no others do', () => {
  expect(rows.numbers('time.wall')).toBe(rows.numbers('tokens'));
  expect(rows.numbers('tokens').every(Number.isNaN)).toBe(true);
  // All rows of the second file have the same number, those of the first have not.
  expect([...rows.numbers('turns')]).toEqual([2, 2, 2, 0, 2, 2]);
});

test('a column holds the value of each record; a bad record is a separate row', () => {
  expect([...rows.numbers('score')]).toEqual([1, 0, 0, Number.NaN, 1, 1]);
  expect([...rows.numbers('step')]).toEqual([1, 1, 1, 1, 2, 2]);
  expect([...rows.numbers('acc')]).toEqual([1, Number.NaN, 0.25, Number.NaN, Number.NaN, Number.NaN]);
  expect(rows.words('kind')).toEqual(['x', null, null, null, null, null]);
  expect(rows.words('stream')).toHaveLength(6);
  expect(rows.has(3, 'bad_record')).toBe(true);
  expect(rows.isObserved(3, 'tool_error')).toBe(false);
  expect(rows.numberNames).toContain('acc');
  expect(rows.place(4)).toMatchObject({ record: 0 });
});

test('numbers of keys come from the columns, long integers too; no record is read for texts or objects', async () => {
  const path = join(folder, 'keys.jsonl');
  writeFileSync(
    path,
    `${line('a', 1).replace('{', '{"big": 123456789012345678901, "extra": {"n": 2, "o": {}}, "said": "no number", ')}\n`,
  );
  const dump = Dump.open([path]);
  const facts = await readFactRows(dump, null);
  const [file] = dump.files;
  const read = vi.spyOn(file!, 'read');
  expect(facts.numberNames).toEqual(expect.arrayContaining(['big', 'extra.n']));
  expect(facts.numberNames.filter((name) => ['input', 'said', 'extra', 'extra.o'].includes(name))).toEqual([]);
  expect(facts.numbers('big')).toEqual(Float64Array.of(Number('123456789012345678901')));
  expect(read).not.toHaveBeenCalled();
  dump.close();
});

test('a prompt is the same in two steps, its groups are two', () => {
  expect([...rows.groups]).toEqual([0, 1, 0, -1, 2, 3]);
  expect([...rows.prompts]).toEqual([0, 1, 0, -1, 0, 2]);
});

test('values of a group are of the whole group, whatever a filter leaves of it', () => {
  expect(failures.length).toBe(2);
  expect([...failures.numbers('group.mean')]).toEqual([0, 0.5]);
  expect([...failures.numbers('rank')]).toEqual([1, 2]);
});

test('equal prompts in all of a step name no group; a key that comes back names the prompt, a fresh one does not', () => {
  // The number of a group is odd where it is one by its prompt.
  const row = (unit: number, key: string, isOfPrompt: boolean, prompt = key) => ({
    unit,
    key: code(key) * 2 + (isOfPrompt ? 1 : 0),
    prompt: code(prompt),
  });
  const numbers = (rows: ReturnType<typeof row>[]) =>
    numberGroups({
      keys: Float64Array.from(rows, ({ key }) => key),
      prompts: Float64Array.from(rows, ({ prompt }) => prompt),
      uids: new Float64Array(rows.length).fill(Number.NaN),
      units: Uint32Array.from(rows, ({ unit }) => unit),
      streams: new Uint32Array(rows.length),
    });
  const alike = numbers([row(0, 'p', true), row(0, 'p', true), row(1, 'q', true), row(1, 'r', true)]);
  expect([...alike.groups]).toEqual([-1, -1, 0, 1]);
  const fresh = numbers([row(0, 'u1', false, 'p'), row(1, 'u2', false, 'p'), row(1, 'u3', false, 'q')]);
  expect([...fresh.prompts]).toEqual([0, 0, 1]);
  const lasting = numbers([row(0, 't1', false, 'p'), row(1, 't1', false, 'q'), row(1, 't2', false, 'q')]);
  expect([...lasting.prompts]).toEqual([0, 0, 1]);
});

test('measures of groups are those of a plain implementation', () => {
  const score = fc.oneof(fc.constantFrom(0, 1, 0.5, Number.NaN), fc.double({ min: -10, max: 10, noNaN: true }));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: -1, max: 3 }), score), { maxLength: 40 }), (cells) => {
      const groups = Int32Array.from(cells, ([group]) => group);
      const scores = Float64Array.from(cells, ([, one]) => one);
      const members = membersByNumber(groups);
      const found = Object.fromEntries(
        SCORE_MEASURES.map((name) => [name, groupMeasure(name, members, scores)]),
      ) as Record<(typeof SCORE_MEASURES)[number], Float64Array>;
      for (const [row, group] of groups.entries()) {
        const own = cells.filter(([other]) => other === group).map(([, one]) => one);
        const finite = own.filter(Number.isFinite);
        if (group < 0) {
          expect(found['group.n'][row]).toBeNaN();
          continue;
        }
        expect(found['group.n'][row]).toBe(own.length);
        const mean = finite.reduce((sum, one) => sum + one, 0) / finite.length;
        if (finite.length > 0) {
          expect(found['group.mean'][row]).toBeCloseTo(mean, 9);
          const spread = Math.sqrt(finite.reduce((sum, one) => sum + (one - mean) ** 2, 0) / finite.length);
          if (finite.length === 1) expect(found['group.std'][row]).toBeNaN();
          else expect(found['group.std'][row]).toBeCloseTo(spread, 9);
          expect(found['group.min'][row]).toBe(Math.min(...finite) + 0);
          expect(found['group.max'][row]).toBe(Math.max(...finite) + 0);
        }
        const better = finite.filter((one) => one > scores[row]!).length;
        if (Number.isNaN(scores[row]!)) expect(found.rank[row]).toBeNaN();
        else expect(found.rank[row]).toBe(better + 1);
        const at = cells.slice(0, row).filter(([other]) => other === group).length;
        const advantage = shownAdvantages(own.map((one) => (Number.isNaN(one) ? null : one)))[at];
        expect(found.adv[row]).toBe(advantage ?? Number.NaN);
      }
    }),
  );
});
