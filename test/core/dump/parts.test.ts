// Files that are elsewhere: what is read of them in parts is what the whole says.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, test } from 'vitest';
import { type CopyLine, copyLines } from '../../../src/core/dump/containers/lines-in.ts';
import { parquetRows } from '../../../src/core/dump/containers/parquet.ts';
import { unzstd } from '../../../src/core/dump/containers/zstd.ts';
import { seekable, storedFrame } from '../../support/zstd.ts';

const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-parts-'));
const PIECE = 64;

/** A file of which only what was asked for is there. */
function elsewhere(bytes: Uint8Array) {
  const path = join(folder, 'here');
  const here = Buffer.alloc(bytes.length);
  writeFileSync(path, here);
  const asked: [number, number][] = [];
  const need = async (start: number, end: number): Promise<void> => {
    asked.push([start, end]);
    const [from, to] = [Math.floor(start / PIECE) * PIECE, Math.min(bytes.length, Math.ceil(end / PIECE) * PIECE)];
    here.set(bytes.subarray(from, to), from);
    writeFileSync(path, here);
  };
  return { path, need, asked };
}

function whole(bytes: Uint8Array): string {
  const path = join(folder, 'whole');
  writeFileSync(path, bytes);
  return path;
}

async function linesIn(source: AsyncIterable<CopyLine>): Promise<string[]> {
  const found: string[] = [];
  for await (const block of source) for (const { text } of copyLines(block)) found.push(String(text));
  return found;
}

const text = fc.option(fc.string({ maxLength: 40 }), { nil: null, freq: 6 });
const row = fc.tuple(text, fc.array(fc.integer(), { maxLength: 6 }), fc.double());
const table = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 60 }),
  pageSize: fc.constantFrom(1, 50, 400, 1 << 20),
  rowGroupSize: fc.constantFrom(1, 7, 25, 1000),
  codec: fc.constantFrom('UNCOMPRESSED' as const, 'SNAPPY' as const),
});

type Table = typeof table extends fc.Arbitrary<infer Drawn> ? Drawn : never;
const parquetOf = ({ rows, pageSize, rowGroupSize, codec }: Table): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'output', data: rows.map(([one]) => one), type: 'STRING', nullable: true },
        { name: 'ids', data: rows.map(([, one]) => one), type: 'JSON' },
        { name: 'score', data: rows.map(([, , one]) => one), type: 'DOUBLE' },
      ],
      pageSize,
      rowGroupSize,
      codec,
    }),
  );

describe('parquet', () => {
  test('rows read by their pages are those of the whole file', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (drawn) => {
        const bytes = parquetOf(drawn);
        const { path, need } = elsewhere(bytes);
        expect(await linesIn(parquetRows(path, need))).toEqual(await linesIn(parquetRows(whole(bytes))));
      }),
      { numRuns: 40 },
    );
  });

  test('rows from a line on are those of the whole file, and lines without a record stand for the others', async () => {
    await fc.assert(
      fc.asyncProperty(table, fc.boolean(), fc.nat(70), async (drawn, isElsewhere, nearest) => {
        const bytes = parquetOf(drawn);
        const { path, need } = elsewhere(bytes);
        const all = await linesIn(parquetRows(whole(bytes)));
        const far = await linesIn(
          isElsewhere ? parquetRows(path, need, () => nearest) : parquetRows(whole(bytes), null, () => nearest),
        );
        expect(far.length).toBe(all.length);
        for (const [at, line] of far.entries()) expect(line).toBe(at < 16 || at + 1 >= nearest ? all[at] : '0');
      }),
      { numRuns: 60 },
    );
  });

  test.each(['v1', 'v2', 'v1-lists-over-pages'])('lists and structs of pages %s', async (name) => {
    const bytes = readFileSync(new URL(`../../../fixtures/parquet-pages/${name}.parquet`, import.meta.url));
    const { path, need, asked } = elsewhere(bytes);
    const rows = await linesIn(parquetRows(whole(bytes)));
    expect(await linesIn(parquetRows(path, need))).toEqual(rows);
    expect(rows.length).toBe(200);
    expect(asked.length).toBeGreaterThan(20);
  });

  test('the first row takes the footer and the first pages, whatever else the row group holds', async () => {
    const rows = Array.from({ length: 4000 }, (_, i) => `${i} ${Math.sin(i)}`.repeat(30));
    const bytes = new Uint8Array(
      parquetWriteBuffer({
        columnData: ['input', 'output', 'gts'].map((name) => ({ name, data: rows, type: 'STRING' as const })),
        pageSize: 10_000,
        codec: 'UNCOMPRESSED',
      }),
    );
    const { path, need, asked } = elsewhere(bytes);
    for await (const block of parquetRows(path, need)) {
      const [first] = copyLines(block);
      expect(JSON.parse(String(first?.text)).output).toBe(rows[0]);
      break;
    }
    const read = asked.reduce((sum, [start, end]) => sum + end - start, 0);
    expect(read / bytes.length).toBeLessThan(0.2);
  });
});

describe('zstd', () => {
  const frames = fc.array(fc.string({ maxLength: 200 }), { minLength: 1, maxLength: 12 });

  test('frames asked for by a seek table are those of the whole file, also if the table is wrong', async () => {
    await fc.assert(
      fc.asyncProperty(frames, fc.option(fc.nat(400), { freq: 2 }), fc.nat(255), async (texts, at, byte) => {
        const parts = texts.map((one) => Buffer.from(storedFrame(one)));
        const bytes = seekable(parts);
        const tableStart = parts.reduce((sum, { length }) => sum + length, 0) + 8;
        if (at !== null) bytes[tableStart + (at % (bytes.length - tableStart))] = byte;
        const { path, need } = elsewhere(bytes);
        const outcome = async (source: AsyncIterable<Uint8Array>) => {
          const got: Uint8Array[] = [];
          const problem = await (async () => {
            for await (const one of source) got.push(one);
          })().then(
            () => null,
            (error: Error) => error.message,
          );
          return [Buffer.concat(got).toString(), problem];
        };
        expect(await outcome(unzstd(path, need))).toEqual(await outcome(unzstd(whole(bytes))));
      }),
      { numRuns: 150 },
    );
  });

  test('the first frame takes the table and itself; without a table, all is asked for', async () => {
    const parts = Array.from({ length: 50 }, (_, i) => Buffer.from(storedFrame(`${i}`.repeat(500))));
    for (const [bytes, most] of [
      [seekable(parts), 0.2],
      [Buffer.concat(parts), 1],
    ] as const) {
      const { path, need, asked } = elsewhere(bytes);
      for await (const chunk of unzstd(path, need)) {
        expect(Buffer.from(chunk).toString()).toBe('0'.repeat(500));
        break;
      }
      const read = asked.reduce((sum, [start, end]) => sum + end - start, 0) / bytes.length;
      if (most === 1) expect(read).toBeGreaterThanOrEqual(1);
      else expect(read).toBeLessThan(most);
    }
  });
});
