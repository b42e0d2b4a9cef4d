// A table of facts and of groups that grew with its dump, against the one that is made anew.
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readFactRows } from '../../../src/analysis/facts/fact-rows.ts';
import { FactTable } from '../../../src/analysis/facts/fact-table.ts';
import { GROUP_MEASURES } from '../../../src/analysis/facts/group-measures.ts';
import { type GroupFacts, groupTable } from '../../../src/analysis/prompts/group-table.ts';
import { compileQuery } from '../../../src/analysis/query/query.ts';
import { Dump } from '../../../src/core/dump/dump.ts';
import { DumpFile } from '../../../src/core/dump/dump-file.ts';
import { recordFactsOf } from '../../../src/core/dump/record-facts.ts';
import { itemAt } from '../../../src/core/lists/at.ts';
import { groupsOf } from '../../../src/viewer/tui/pages/groups.ts';

const folder = mkdtempSync(join(tmpdir(), 'grown-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Sample {
  prompt: number;
  step: number | null;
  score: number | null;
  uid: string | null;
}

const lineOf = ({ prompt, step, score, uid }: Sample): string =>
  `${JSON.stringify({
    input: `user\nquestion ${prompt}\nassistant\n`,
    output: 'It is 5.',
    gts: '5',
    ...(score === null ? {} : { score }),
    ...(step === null ? {} : { step }),
    ...(uid === null ? {} : { uid }),
  })}\n`;

const sample = fc.record({
  prompt: fc.nat({ max: 3 }),
  step: fc.constantFrom(null, 1, 2, 3),
  score: fc.constantFrom(null, 0, 1, 0.5),
  uid: fc.constantFrom(null, null, 'a', 'b', 'g_1_0', 'g_1_1', 'h_1_0'),
});
const change = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      file: fc.nat(),
      lines: fc.array(sample, { maxLength: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('cut' as const),
      file: fc.nat(),
      lines: fc.array(sample, { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('replace' as const),
      file: fc.nat(),
      lines: fc.array(sample, { maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('remove' as const), file: fc.nat(), lines: fc.constant<Sample[]>([]) }),
  },
);

/** All that a table can be asked for. */
const answersOf = (table: FactTable) => ({
  units: table.units,
  scores: table.scores,
  groups: table.numbers.groups,
  prompts: table.numbers.prompts,
  measures: GROUP_MEASURES.map((name) => table.measure(name)),
});

const factsIn = (table: FactTable): GroupFacts => ({
  length: table.length,
  numbers: () => table.scores,
  reader: (name) => (row) => {
    const at = table.fileAt(row);
    const [file, record] = [itemAt(table.files, at), row - itemAt(table.starts, at)];
    return name === 'step' ? (file.stepOf(record) ?? undefined) : name === 'stream' ? file.stream : undefined;
  },
  groups: table.numbers.groups,
  prompts: table.numbers.prompts,
});

const plain = (table: ReturnType<typeof groupTable>) => table.map((row) => ({ ...row, rows: [...row.rows] }));

test('what an earlier table knows of groups and scores is what a new one finds, whatever changed', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), fc.boolean(), async (changes, looksAtAll) => {
      const own = join(folder, String(run++));
      const open = (name: string, stream: string): DumpFile => {
        const path = `${own}-${name}.jsonl`;
        writeFileSync(path, lineOf({ prompt: 0, step: null, score: 1, uid: null }));
        return new DumpFile({ path, stream });
      };
      let files = [open('1', 'train'), open('2', 'train'), open('3', 'val')];
      let table: FactTable | null = null;
      let groups: ReturnType<typeof groupTable> = [];
      for (const { kind, file: number, lines } of [{ kind: 'append' as const, file: 0, lines: [] }, ...changes]) {
        const file = files[number % files.length];
        const text = lines.map(lineOf).join('');
        if (file !== undefined && kind === 'append') appendFileSync(file.path, text);
        if (file !== undefined && kind === 'cut') appendFileSync(file.path, text.slice(0, -4));
        if (file !== undefined && kind === 'replace') writeFileSync(file.path, text);
        if (kind === 'remove' && files.length > 1) files = files.filter((one) => one !== file);
        for (const one of files) {
          await one.update({ holdBack: false });
          for (let record = 0; record < one.count; record++)
            if (!one.index.isLooked(record) && (looksAtAll || record % 3 > 0))
              one.index.setFacts(record, recordFactsOf(one.read(record)));
        }
        const anew = new FactTable(files);
        const grown: FactTable = new FactTable(files, table);
        expect(answersOf(grown)).toEqual(answersOf(anew));
        const from = table === null ? 0 : grown.sharedWith(table);
        const grownGroups = groupTable(factsIn(grown), undefined, { table: groups, from });
        expect(plain(grownGroups)).toEqual(plain(groupTable(factsIn(anew))));
        [table, groups] = [grown, grownGroups];
      }
      for (const file of files) file.close();
    }),
    { numRuns: 30 },
  );
});

test('a dump that grows at its end keeps all groups of earlier steps, with and without a filter', async () => {
  const own = mkdtempSync(join(folder, 'dump-'));
  const step = (name: number, count: number) =>
    writeFileSync(
      join(own, `${name}.jsonl`),
      Array.from({ length: count }, (_, i) => lineOf({ prompt: i >> 1, step: name, score: i % 2, uid: null })).join(''),
    );
  step(1, 8);
  step(2, 8);
  const dump = Dump.open([own]);
  const query = compileQuery('score == 1 || group.std > 0');
  for (const filter of [null, query]) {
    const before = await readFactRows(dump, filter);
    const known = groupsOf(before);
    step(dump.files.length + 1, 6);
    for (const file of dump.rescan()) await dump.refresh(file);
    const after = await readFactRows(dump, filter);
    expect(after.sharedWith(before)).toBe(before.length);
    const grown = groupsOf(after);
    expect(grown.slice(0, known.length)).toEqual(known);
    expect(grown[0]).toBe(known[0]);
    expect(plain([...grown])).toEqual(plain(groupTable(after)));
    expect(grown).toHaveLength(known.length + 3);
  }
  dump.close();
});
