import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, expect, test } from 'vitest';
import { writeColumns } from '../../../src/analysis/export/files/parquet-file.ts';
import type { FactCell, FactColumn } from '../../../src/analysis/facts/facts-table.ts';
import { ByteLines } from '../../../src/viewer/commands/byte-lines.ts';
import { factLines } from '../../../src/viewer/commands/fact-lines.ts';
import { csvCells } from '../../../src/viewer/commands/row-csv.ts';
import { ask, jsonLines } from '../../program.ts';

const folder = mkdtempSync(join(tmpdir(), 'facts-agree-'));
afterAll(() => rmSync(folder, { recursive: true }));

function parquetRows(path: string): Promise<Record<string, unknown>[]> {
  const bytes = readFileSync(path);
  return parquetReadObjects({ file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) });
}

/** The cells of RFC 4180, without the apostrophes that keep a spreadsheet from a formula. */
function csvRows(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    rows.at(-1)?.push((quoted?.replaceAll('""', '"') ?? plain).replace(/^'(?=[=+\-@\t\r])/, ''));
    if (end === '\n') rows.push([]);
  }
  rows.pop();
  return rows;
}

const score = fc.oneof(fc.constantFrom(0, 1, -1, 0.1, 1e-9, null), fc.double({ noNaN: true, noDefaultInfinity: true }));
const word = fc.constantFrom('a', 'a,b', 'say "hi"', 'two\nlines', '=1+1', '-', 'naïve 🙂', '', 'null', '007');
const record = fc.record(
  {
    input: fc.constantFrom('<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n', 'plain', 'other'),
    output: fc.constantFrom(
      '4',
      '<think>hm</think>4',
      '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
      'I give up, sorry.',
      '',
    ),
    score,
    step: fc.integer({ min: 0, max: 3 }),
    acc: fc.boolean(),
    length: fc.oneof(fc.integer(), score, fc.boolean()),
    kind: word,
    mixed: fc.oneof(fc.integer(), fc.boolean(), word, fc.constant(null)),
  },
  { requiredKeys: ['input', 'output'] },
);

test('Parquet, CSV and ls --json give a drawn dump the same rows, types and cells', async () => {
  const dump = join(folder, 'drawn.jsonl');
  const drawn = fc.sample(record, { numRuns: 400, seed: 39 });
  writeFileSync(dump, drawn.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const table = join(folder, 'drawn.parquet');
  expect((await ask(['facts', dump, '--parquet', table])).code).toBe(0);
  const rows = await parquetRows(table);
  const listed = jsonLines((await ask(['ls', '--json', dump])).stdout);
  const [head = [], ...lines] = csvRows((await ask(['facts', dump, '--csv'])).stdout);
  expect([rows.length, listed.length, lines.length]).toEqual([drawn.length, drawn.length, drawn.length]);
  for (const [at, row] of rows.entries()) {
    expect(Object.keys(row)).toEqual(head);
    expect([at, ...Object.values(row).map((cell) => String(cell ?? ''))]).toEqual([at, ...(lines[at] ?? [])]);
    const one = listed[at] ?? {};
    const { extras, findings, unobserved } = one as {
      extras: Record<string, unknown>;
      findings: { check: string }[];
      unobserved: string[];
    };
    const names = findings.map(({ check }) => check);
    const expected = Object.entries(row).map(([name, cell]) => {
      if (name.startsWith('finding_')) {
        const check = name.slice('finding_'.length);
        return [name, names.includes(check) ? true : unobserved.includes(check) ? null : cell === null ? null : false];
      }
      if (name.startsWith('extras_')) {
        const value = extras[name.slice('extras_'.length)] ?? null;
        const type = columnType(rows, name);
        return [
          name,
          value === null ? null : type === 'string' ? String(value) : type === 'number' ? Number(value) : value,
        ];
      }
      const key = Object.keys(one).find((known) => known.replaceAll('.', '_') === name);
      return [name, key === undefined ? cell : (one[key] ?? null)];
    });
    expect([at, ...Object.entries(row).map(([name, cell]) => [name, cell ?? null])]).toEqual([at, ...expected]);
  }
});

const columnType = (rows: readonly Record<string, unknown>[], name: string): string =>
  typeof rows.find((row) => row[name] !== null && row[name] !== undefined)?.[name];

test('columns of any length and any gaps come back from a Parquet file as they were', async () => {
  const cell = {
    DOUBLE: fc.oneof(fc.constantFrom(0, 1, Number.NaN, Number.POSITIVE_INFINITY), fc.double()),
    INT32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    STRING: fc.oneof(word, fc.string({ unit: 'grapheme' })),
    BOOLEAN: fc.boolean(),
  };
  const types = ['DOUBLE', 'INT32', 'STRING', 'BOOLEAN'] as const;
  const column = fc.constantFrom(...types).chain((type) =>
    fc.record({
      type: fc.constant(type),
      // Cells of their own, cells by their number among the drawn ones, and numbers that are their own cells.
      form: fc.constantFrom('own', 'numbered', 'numbers'),
      // Drawn cells repeat in a column as often as it has room.
      drawn: fc.array(fc.option<number | string | boolean>(cell[type]), { minLength: 1, maxLength: 40 }),
    }),
  );
  const path = join(folder, 'columns.parquet');
  const property = fc.asyncProperty(
    fc.array(column, { minLength: 1, maxLength: 4 }),
    fc.constantFrom(1, 7, 999, 9_999, 10_000, 10_001, 20_005),
    async (columns, rows) => {
      const named = columns.map(({ type, form, drawn }, at): FactColumn & { all: FactCell[] } => {
        const all = Array.from({ length: rows }, (_, row): FactCell => drawn[row % drawn.length] ?? null);
        const own = { name: `c${at}`, type, all };
        if (form === 'numbers' && type === 'DOUBLE') {
          const keys = Float64Array.from(all, (cell) => (typeof cell === 'number' ? cell : Number.NaN));
          const cells = Array.from(keys, (key) => (Number.isNaN(key) ? null : key));
          return { ...own, all: cells, keys, cellOf: (key) => (Number.isNaN(key) ? null : key), form: 'number' };
        }
        if (form === 'own') return { ...own, at: (row) => all[row] ?? null };
        return {
          ...own,
          keys: Int32Array.from(all, (_, row) => row % drawn.length),
          cellOf: (key) => drawn[key] ?? null,
          form: 'other',
        };
      });
      const addLine = factLines(named, rows);
      const lines = new ByteLines();
      for (let row = 0; row < rows; row += 97) {
        addLine(row, lines);
        expect(lines.take().toString()).toBe(`${csvCells(named.map(({ all }) => all[row] ?? null))}\n`);
      }
      await writeColumns(path, named, rows);
      const read = await parquetRows(path);
      expect(read).toHaveLength(rows);
      for (const { name, all } of named) {
        const wrong = all.findIndex((value, row) => !Object.is(read[row]?.[name] ?? null, value));
        expect([name, wrong]).toEqual([name, -1]);
      }
    },
  );
  await fc.assert(property, { numRuns: 12 });
});

test('a cell of numbers or of true and false is never quoted; text is as a spreadsheet may open it', () => {
  expect(csvCells([-1.5, 1e-9, true, null, '-x', 'a,b', Number.NaN])).toBe('-1.5,1e-9,true,,\'-x,"a,b",NaN');
});
