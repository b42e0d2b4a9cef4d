import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { jsonOf } from '../../../src/core/dump/containers/foreign-values.ts';
import { copyLines } from '../../../src/core/dump/containers/lines-in.ts';
import { parquetRows } from '../../../src/core/dump/containers/parquet.ts';
import { Cells, linesOfCells } from '../../../src/core/dump/containers/parquet-lines.ts';
import { printJson } from '../../../src/core/json/print.ts';
import { objectIn } from '../../../src/core/json/value.ts';

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(null, undefined, -0, '\u202e', '\ud800', '\u007f'),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array({ maxLength: 12 }),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('any'), { maxKeys: 4 }),
    fc.array(fc.tuple(fc.string(), tie('any')), { maxLength: 3 }).map((entries) => new Map(entries)),
  ),
})).any;
const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', '1', '0', 'é', '"'));

test('cells of pages are printed as the values of one object for each row', () => {
  const column = fc.record({
    name,
    cells: fc.array(value, { minLength: 5, maxLength: 5 }),
    pages: fc.nat(4),
    skipped: fc.nat(2),
  });
  fc.assert(
    fc.property(fc.uniqueArray(column, { maxLength: 5, minLength: 1, selector: (one) => one.name }), (columns) => {
      const cells = columns.map(
        ({ name, cells, pages, skipped }) =>
          new Cells(name, false, [cells.slice(skipped, pages), cells.slice(Math.max(skipped, pages))], skipped),
      );
      const lines = [...linesOfCells(cells, 2, 5)].flatMap((block) => [...copyLines(block)]).map(({ text }) => text);
      const rows = [2, 3, 4].map((row) =>
        columns.map(({ name, cells }) => `${printJson(name)}:${printJson(jsonOf(cells[row]))}`),
      );
      expect(lines).toEqual(rows.map((row) => `{${row.join(',')}}`));
    }),
    { numRuns: 1000 },
  );
});

test('a file is printed as the values that its reader gives', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-parquet-'));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'a"b\\\n', '\ufeffa', '→ “é” 中文 🙂', 'same'),
  );
  const row = fc.record({
    text: fc.option(text),
    same: fc.constantFrom('one', 'tw“o”', '3\t'),
    bytes: fc.uint8Array({ maxLength: 9 }),
    json: fc.oneof(fc.string(), fc.array(fc.integer()), fc.dictionary(fc.string(), text)),
    number: fc.double(),
    count: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 40 }),
      fc.constantFrom(1, 50, 1 << 20),
      fc.constantFrom('UNCOMPRESSED' as const, 'SNAPPY' as const),
      async (rows, pageSize, codec) => {
        const path = join(folder, 'a.parquet');
        const columnData = [
          { name: 'text', data: rows.map((one) => one.text), type: 'STRING' as const, nullable: true },
          { name: 'same', data: rows.map((one) => one.same), type: 'STRING' as const },
          { name: '1', data: rows.map((one) => one.bytes), type: 'BYTE_ARRAY' as const },
          { name: 'json', data: rows.map((one) => one.json), type: 'JSON' as const },
          { name: 'number', data: rows.map((one) => one.number), type: 'DOUBLE' as const },
          { name: 'count', data: rows.map((one) => one.count), type: 'INT64' as const },
        ];
        writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, pageSize, codec })));
        const read = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
        const lines: string[] = [];
        for await (const block of parquetRows(path)) for (const one of copyLines(block)) lines.push(String(one.text));
        expect(lines).toEqual(read.map((one) => printJson(objectIn(jsonOf(one)))));
      },
    ),
    { numRuns: 100 },
  );
});
