import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matcher, rawFilter } from '../../../src/analysis/text-search.ts';
import type { DumpFile, DumpRecord } from '../../../src/core/dump/dump-file.ts';
import { FreshRows } from '../../../src/viewer/tui/rows/fresh-rows.ts';
import { markSigns } from '../../../src/viewer/tui/rows/mark-signs.ts';
import { RecordList } from '../../../src/viewer/tui/rows/record-list.ts';
import { groupRows, nearestIn, positionIn, rowsOf } from '../../../src/viewer/tui/rows/rows.ts';
import { MAX_HITS, Scan } from '../../../src/viewer/tui/rows/scan.ts';
import { hitRanges } from '../../../src/viewer/tui/rows/search.ts';
import { Searches } from '../../../src/viewer/tui/rows/searches.ts';
import { SortTable } from '../../../src/viewer/tui/rows/sort-table.ts';
import { initialState } from '../../../src/viewer/tui/state/state.ts';
import { toolRollout } from '../../support/dump.ts';
import { TestScreen } from '../../support/screen.ts';

const fileOf = (count: number, generation = 0): DumpFile => ({ count, generation }) as unknown as DumpFile;

describe('what is searched for', () => {
  const found = (value: string, text: string): string[] => {
    const hits: string[] = [];
    matcher(value).find(text, (start, end) => {
      hits.push(text.slice(start, end));
      return true;
    });
    return hits;
  };

  test.each<[string, string, string[]]>([
    ['john', 'John john', ['John', 'john']],
    ['John', 'John john', ['John']],
    ['\\Sohn', 'JOHN john', ['JOHN', 'john']],
    ['a.c', 'abc a.c', ['abc', 'a.c']],
    ['\\Va.c', 'abc a.c', ['a.c']],
    ['^b', 'a\nb', ['b']],
    ['x*', 'axxb', ['xx']],
    ['größe', 'GRÖSSE Größe', ['Größe']],
    ['i', 'İi', ['i']],
    ['', 'a', []],
  ])('%s in %j', (value, text, hits) => {
    expect(found(value, text)).toEqual(hits);
  });

  test('is looked for in raw text only where it is written as it is', () => {
    expect([rawFilter('john')('{"a": "John"}'), rawFilter('jane')('{"a": "John"}')]).toEqual([true, false]);
    expect([rawFilter('a.c')('none'), rawFilter('"q"')('none'), rawFilter('ü')('none')]).toEqual([true, true, true]);
  });

  test('a pattern that cannot be read is an error', () => {
    expect(() => matcher('(')).toThrow();
  });

  test('the hit under the cursor is distinguished', () => {
    const hits = [
      { block: 'a', start: 0, end: 1 },
      { block: 'a', start: 2, end: 3 },
    ];
    expect(
      hitRanges(hits, 1)
        .get('a')
        ?.map(({ style }) => style),
    ).toEqual(['match', 'current']);
  });
});

describe('a scan', () => {
  const block = (id: string, text: string) => ({ id, text }) as never;

  test('finds what lies across the slices of a long text, each hit once', () => {
    const text = `${'x'.repeat(32_766)}needle${'y'.repeat(40_000)}needle`;
    const scan = new Scan([block('a', 'needle'), block('b', text)], matcher('needle'));
    let turns = 0;
    while (!scan.isDone) {
      scan.run(() => true);
      turns++;
    }
    expect(turns).toBeGreaterThan(2);
    expect(scan.hits.map(({ block: id, start }) => [id, start])).toEqual([
      ['a', 0],
      ['b', 32_766],
      ['b', 32_766 + 6 + 40_000],
    ]);
    expect(scan.share).toBe(1);
  });

  test('does not part a surrogate pair', () => {
    const text = `${'x'.repeat(32_767)}🙂${'y'.repeat(100)}`;
    const scan = new Scan([block('a', text)], matcher('[🙂]'));
    scan.run(() => false);
    expect(scan.hits).toEqual([{ block: 'a', start: 32_767, end: 32_769 }]);
  });

  test('ends where nobody counts any more', () => {
    const scan = new Scan([block('a', 'x'.repeat(MAX_HITS + 10))], matcher('x'));
    scan.run(() => false);
    expect([scan.hits.length, scan.isFull, scan.isDone]).toEqual([MAX_HITS, true, true]);
  });
});

describe('remembered searches', () => {
  const record = (raw: string) =>
    ({ locator: '1.jsonl:1', file: { context: {} }, raw, error: 'no record', rollout: null }) as never;
  const display = { view: 'chat', hidden: [] } as never;

  test('belong to the content of a record, and a pattern that cannot be read has none', async () => {
    const searches = new Searches(() => {});
    const ended = async (read: never, value: string) => {
      const scan = searches.of(read, display, value);
      // A search gives way to the keyboard after some milliseconds.
      while (scan?.isDone === false) await new Promise(setImmediate);
      return scan;
    };
    const read = record('one one');
    const first = await ended(read, 'one');
    expect(first?.hits).toHaveLength(2);
    expect(searches.of(read, display, 'one')).toBe(first);
    expect((await ended(record('one'), 'one'))?.hits).toHaveLength(1);
    expect(searches.of(record('one'), display, '(')).toBeNull();
  });
});

describe('rows', () => {
  const [a, b] = [fileOf(3), fileOf(9)];
  const rows = rowsOf([
    { file: a, length: 3, records: null },
    { file: b, length: 2, records: Uint32Array.from([4, 8, 0, 0]) },
  ]);

  test('are numbered file after file', () => {
    expect(rows.length).toBe(5);
    expect([rows.at(2), rows.at(3), rows.at(4), rows.at(5), rows.at(-1)]).toEqual([
      { file: a, record: 2 },
      { file: b, record: 4 },
      { file: b, record: 8 },
      null,
      null,
    ]);
    expect([
      rows.indexOf({ file: b, record: 8 }),
      rows.indexOf({ file: b, record: 5 }),
      rows.indexOf({ file: a, record: 3 }),
    ]).toEqual([4, -1, -1]);
  });

  test('the nearest to one that is not listed is the one behind it where both are as near', () => {
    const some = { file: b, length: 2, records: Uint32Array.from([4, 8]) };
    expect([0, 5, 6, 7, 20].map((record) => nearestIn(some, record))).toEqual([0, 0, 1, 1, 1]);
    expect(nearestIn({ file: b, length: 0, records: new Uint32Array() }, 3)).toBe(-1);
    expect([positionIn(some, 8), positionIn(some, 9)]).toEqual([1, -1]);
    expect(rows.near({ file: fileOf(1), record: 0 })).toBe(-1);
  });

  test('of a group keep the order given', () => {
    const group = groupRows(a, [2, 0]);
    expect([group.at(0)?.record, group.indexOf({ file: a, record: 0 }), group.indexOf({ file: b, record: 0 })]).toEqual(
      [2, 1, -1],
    );
    expect(group.near({ file: a, record: 1 })).toBe(0);
  });

  test('a list of records that shrinks is copied: what was read stays', () => {
    const list = new RecordList();
    list.push(1);
    for (let i = 2; i <= 100; i++) list.push(i);
    const { values } = list;
    list.pop();
    list.push(107);
    expect([values?.[99], list.last, list.length]).toEqual([100, 107, 100]);
  });

  test('of a file are not written down while they are all from the first on', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: 1, max: 2 }), { maxLength: 80 }), { maxLength: 4 }), (gaps) => {
        const list = new RecordList();
        const wanted: number[] = [];
        for (const [at, some] of gaps.entries()) {
          const records = some.map(
            (_, i) => (wanted.at(-1) ?? -1) + 1 + some.slice(0, i + 1).filter((by) => by === 2).length + i,
          );
          wanted.push(...records);
          if (at % 2 === 0) list.pushAll(Uint32Array.from(records));
          else for (const record of records) list.push(record);
        }
        expect(list.length).toBe(wanted.length);
        expect([...(list.values?.subarray(0, list.length) ?? wanted.keys())]).toEqual(wanted);
        expect(list.values === null).toBe(wanted.every((record, at) => record === at));
      }),
    );
  });
});

describe('a sorted list', () => {
  const ordered = (descending: boolean): (number | null | string)[] => {
    const [a, b] = [fileOf(9), fileOf(9)];
    const table = new SortTable(descending);
    const values = [2, null, 'text', Number.NaN, 1, 2, 'abc'];
    for (const [i, value] of values.entries()) table.add(i === 5 ? a : b, i, value);
    table.kill(b, 4);
    table.rankFiles([a, b]);
    for (const _ of table.merge());
    return [...table.order].map((id) => table.place(id).record);
  };

  test('has numbers, texts, NaN, and what is missing last whichever way; equal values in the order of the files', () => {
    expect(ordered(false)).toEqual([5, 0, 6, 2, 3, 1]);
    expect(ordered(true)).toEqual([5, 0, 2, 6, 3, 1]);
  });
});

describe('new rows', () => {
  const look = (fresh: FreshRows, places: { file: DumpFile; record: number }[], now: number) =>
    fresh.look(places, null, now);

  test('are those that came since the opening; a file that is rewritten is new as a whole', () => {
    const [old, other] = [fileOf(2, 1), fileOf(5)];
    const fresh = new FreshRows();
    expect(fresh.has({ file: old, record: 5 })).toBe(false);
    fresh.begin([old]);
    expect([0, 1, 2].map((record) => fresh.has({ file: old, record }))).toEqual([false, false, true]);
    expect(fresh.has({ file: other, record: 0 })).toBe(true);
    (old as { generation: number }).generation = 2;
    expect(fresh.has({ file: old, record: 0 })).toBe(true);
  });

  test('are new until they were visited, or five seconds in sight', () => {
    const file = fileOf(0);
    const fresh = new FreshRows();
    fresh.begin([file]);
    const [one, two] = [
      { file, record: 0 },
      { file, record: 1 },
    ];
    expect(look(fresh, [one], 0)).toBe(5000);
    expect(look(fresh, [one, two], 2000)).toBe(3000);
    expect(look(fresh, [one, two], 5000)).toBe(2000);
    expect([fresh.has(one), fresh.has(two)]).toEqual([false, true]);
    // One that was visited before those above it is new no more, and they are.
    fresh.look([], { file, record: 5 }, 5500);
    expect([fresh.has({ file, record: 4 }), fresh.has({ file, record: 5 })]).toEqual([true, false]);
    // Out of sight, it begins again.
    expect(look(fresh, [], 6000)).toBeNull();
    expect(look(fresh, [two], 7000)).toBe(5000);
    fresh.look([two], two, 7001);
    expect(fresh.has(two)).toBe(false);
  });
});

test('a letter comes before the mark of the space bar', () => {
  const file = fileOf(9);
  const mark = (record: number) => ({ place: { file, record }, generation: 0, turn: null });
  const marks = new Map([
    ['a', mark(1)],
    [' x:1', mark(1)],
    [' x:2', mark(2)],
    [' x:3', mark(3)],
    ['b', mark(3)],
  ]);
  expect([...markSigns(marks).get(file)!]).toEqual([
    [1, 'a'],
    [2, '•'],
    [3, 'b'],
  ]);
});

test('a search of a record that is still being read is not over', () => {
  const record = { isPending: true, locator: '1.jsonl:1', bytes: 5_000_000 } as DumpRecord;
  const scan = new Searches(() => {}).of(record, initialState(80, 24).display, 'x')!;
  expect([scan.isDone, scan.share, scan.hits]).toEqual([false, 0, []]);
  expect(new Searches(() => {}).of(record, initialState(80, 24).display, '(')).toBeNull();
});

test('the groups of a step that was rewritten are those of its new rows, though they are as many', async () => {
  const screen = await TestScreen.open({ '1.jsonl': [1, 1, 2, 2].map((prompt) => toolRollout(1, prompt, 1)) });
  const [file] = screen.dump.files;
  const members = () => screen.data.groups.groups(file!)!.membersOf(0);
  await screen.grouped();
  expect(members()).toEqual([0, 1]);
  const lines = [1, 2, 1, 2].map((prompt) => `${JSON.stringify(toolRollout(1, prompt, 0))}\n`);
  writeFileSync(file!.path, lines.join(''));
  await screen.dump.refresh(file!);
  await screen.grouped();
  expect(members()).toEqual([0, 2]);
  screen.close();
});
