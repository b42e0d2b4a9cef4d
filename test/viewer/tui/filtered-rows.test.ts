import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileQuery } from '../../../src/analysis/query/query.ts';
import { compareValues, parseSort, sortValue } from '../../../src/analysis/query/sort.ts';
import { Subject } from '../../../src/analysis/query/subject.ts';
import { Dump, type Place } from '../../../src/core/dump/dump.ts';
import { FilteredRowsCache } from '../../../src/viewer/tui/rows/filtered-rows-cache.ts';
import { allRows } from '../../../src/viewer/tui/rows/rows.ts';
import { SortTable } from '../../../src/viewer/tui/rows/sort-table.ts';
import { type ListChoice, noChoice } from '../../../src/viewer/tui/state/list.ts';
import type { Rows } from '../../../src/viewer/tui/state/rows.ts';
import { directoryWith, verlLine } from '../../program.ts';

/** The list as it should be: every record asked, one after the other. */
function oracle(dump: Dump, { filter, sort }: ListChoice): string[] {
  const places = dump.files.flatMap((file) => Array.from({ length: file.count }, (_, record) => ({ file, record })));
  const query = filter === null ? null : compileQuery(filter.text);
  const kept = places.filter((place) => query === null || query.accepts(Subject.of(place)) !== filter!.isInverted);
  if (sort !== null) {
    const order = { ...parseSort(sort.key), descending: sort.descending };
    const values = new Map(kept.map((place) => [place, sortValue(order, Subject.of(place))]));
    kept.sort((a, b) => compareValues(values.get(a)!, values.get(b)!, order.descending));
  }
  return kept.map(nameOf);
}

const nameOf = ({ file, record }: Place): string => `${file.stem}:${record + 1}`;
const named = (rows: Rows): string[] => Array.from({ length: rows.length }, (_, index) => nameOf(rows.at(index)!));

/** The list once it is whole and nothing is left to look at. */
class Listing {
  readonly dump: Dump;
  readonly #filtered: FilteredRowsCache;
  #changed: () => void = () => {};

  constructor(dump: Dump) {
    this.dump = dump;
    this.#filtered = new FilteredRowsCache(dump, () => this.#changed());
  }

  async rows(choice: ListChoice): Promise<Rows> {
    const all = allRows(this.dump.files);
    for (;;) {
      const rows = this.#filtered.rows(choice, all, null);
      if (rows === null) return all;
      const progress = this.#filtered.progress(choice)!;
      if (progress.isWhole && !progress.isBusy) return this.#filtered.rows(choice, all, null)!;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
        setTimeout(resolve, 5);
      });
    }
  }

  nearest(choice: ListChoice, place: Place): Place | null {
    return this.#filtered.nearest(choice, place);
  }

  /** All that was done on disk is in the index. */
  async sees(): Promise<void> {
    this.dump.rescan();
    for (const file of this.dump.files) await this.dump.index(file);
    this.#filtered.refresh();
  }

  close(): void {
    this.#filtered.close();
    this.dump.close();
  }
}

async function listing(directory: string): Promise<Listing> {
  const made = new Listing(Dump.open([directory]));
  await made.sees();
  return made;
}

const line = fc
  .record({
    score: fc.oneof(fc.constantFrom(0, 1, 0.5, -1, null, 'NaN'), fc.integer({ min: -3, max: 3 })),
    acc: fc.constantFrom(true, false, 'x', undefined, 2, null),
    words: fc.constantFrom('sorry', 'Sorry, no', 'a\u00e9b', 'so/rry', '"quoted"', ''),
    tool: fc.boolean(),
  })
  .map(({ score, acc, words, tool }) => {
    const call =
      '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nuser\n<tool_response>\nError: x\n</tool_response>\nassistant\n';
    const text = verlLine({ score, output: `${tool ? call : ''}${words}`, ...(acc === undefined ? {} : { acc }) });
    return text.replace('"NaN"', 'NaN');
  });
const lines = fc.array(fc.oneof({ weight: 12, arbitrary: line }, fc.constant('no record\n'), fc.constant('\n')), {
  minLength: 1,
  maxLength: 12,
});

const FILTERS = [
  'score < 0.5',
  'score >= 0 && sample < 6',
  'turns > 2',
  'finding:bad_record || tool_calls > 0',
  'output ~ /sorry/',
  'output ~ /sorry/i && score != 1',
  'output !~ /so\\/rry|quoted/',
  'acc == true',
  'acc > 1 || score == NaN',
];
const choice = fc.record({
  filter: fc.option(fc.record({ text: fc.constantFrom(...FILTERS), isInverted: fc.boolean() }), { nil: null }),
  sort: fc.option(
    fc.record({
      key: fc.constantFrom('score', 'bytes', 'turns', 'acc', 'stream', 'tool_calls'),
      descending: fc.boolean(),
    }),
    { nil: null },
  ),
});
const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), file: fc.integer({ min: 1, max: 3 }), lines }),
  fc.record({ do: fc.constant('replace' as const), file: fc.integer({ min: 1, max: 3 }), lines }),
  fc.record({ do: fc.constant('remove' as const), file: fc.integer({ min: 2, max: 3 }) }),
  fc.record({ do: fc.constant('half' as const), file: fc.integer({ min: 1, max: 3 }), line }),
  fc.record({ do: fc.constant('choose' as const), choice }),
);

describe('the list, filtered and sorted', () => {
  test('is what asking every record would give, whatever becomes of the dump', async () => {
    await fc.assert(
      fc.asyncProperty(lines, choice, fc.array(step, { minLength: 4, maxLength: 16 }), async (first, chosen, steps) => {
        const directory = directoryWith({ '1.jsonl': first.join('') });
        const list = await listing(directory);
        // The rest of a line whose first half is written.
        const rests = new Map<string, string>();
        let now: ListChoice = { ...noChoice, ...chosen };
        try {
          expect(named(await list.rows(now))).toEqual(oracle(list.dump, now));
          for (const one of steps) {
            if (one.do === 'choose') now = { ...noChoice, ...one.choice };
            else {
              const path = join(directory, `${one.file}.jsonl`);
              const rest = rests.get(path) ?? '';
              rests.delete(path);
              if (one.do === 'append') appendFileSync(path, rest + one.lines.join(''));
              else if (one.do === 'half') {
                appendFileSync(path, rest + one.line.slice(0, -10));
                rests.set(path, one.line.slice(-10));
              } else if (one.do === 'replace') {
                rmSync(path, { force: true });
                writeFileSync(path, one.lines.join(''));
              } else rmSync(path, { force: true });
            }
            await list.sees();
            const rows = await list.rows(now);
            const wanted = oracle(list.dump, now);
            expect(named(rows)).toEqual(wanted);
            for (let index = 0; index < rows.length; index++) expect(rows.indexOf(rows.at(index)!)).toBe(index);
            for (const file of list.dump.files) {
              const mine = wanted.filter((name) => name.startsWith(`${file.stem}:`));
              for (let record = 0; record < file.count; record++) {
                const isIn = mine.includes(nameOf({ file, record }));
                expect(rows.indexOf({ file, record }) >= 0).toBe(isIn);
                const near = rows.at(rows.near({ file, record }));
                const distances = mine.map((name) => Math.abs(Number(name.split(':')[1]) - 1 - record));
                expect(near === null ? null : Math.abs(near.record - record)).toBe(
                  mine.length === 0 ? null : Math.min(...distances),
                );
              }
            }
          }
        } finally {
          list.close();
        }
      }),
      { numRuns: 5 },
    );
  });

  test('finds the record that stood nearest to one that left', async () => {
    const scores = [1, 0, 1, 1, 1, 0, 1, 1];
    const list = await listing(directoryWith({ '1.jsonl': scores.map((score) => verlLine({ score })).join('') }));
    const file = list.dump.files[0]!;
    const zeros: ListChoice = { ...noChoice, filter: { text: 'score == 0', isInverted: false } };
    await list.rows(zeros);
    const nearest = (record: number) => list.nearest(zeros, { file, record })?.record;
    expect([0, 2, 3, 4, 6, 7].map(nearest)).toEqual([1, 1, 5, 5, 5, 5]);
    list.close();
  });

  test('sorts a hundred thousand rows in steps, the same as all at once', () => {
    const file = Dump.open([directoryWith({ '1.jsonl': verlLine() })]).files[0]!;
    for (const descending of [false, true]) {
      const table = new SortTable(descending);
      const values = Array.from({ length: 100_000 }, (_, i) => (i % 11 === 0 ? null : ((i * 7919) % 1000) / 8));
      let steps = 0;
      for (const [record, value] of values.entries()) {
        table.add(file, record, value);
        if (record % 40_000 !== 39_999) continue;
        table.rankFiles([file]);
        for (const _ of table.merge()) steps++;
      }
      table.rankFiles([file]);
      for (const _ of table.merge()) steps++;
      expect(steps).toBeGreaterThan(100);
      const wanted = [...values.keys()].sort((a, b) => compareValues(values[a]!, values[b]!, descending) || a - b);
      expect([...table.order].map((id) => table.place(id).record)).toEqual(wanted);
    }
  });
});
