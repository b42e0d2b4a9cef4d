import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, test } from 'vitest';
import { Dump } from '../../../src/core/dump/dump.ts';
import { parseLocator } from '../../../src/core/dump/locator.ts';
import { findRow, type LineRange } from '../../../src/viewer/commands/find-row.ts';

const fixtures = fileURLToPath(new URL('../../../fixtures/', import.meta.url));
const files = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .map((name) => join(fixtures, name))
  .filter((path) => /\.(?:jsonl?|eval|parquet|zip|zst|gz)$/.test(path) && statSync(path).size < 1_000_000);

async function withDump<T>(path: string, use: (dump: Dump) => Promise<T>): Promise<T> {
  const dump = Dump.open([path], {});
  try {
    return await use(dump);
  } finally {
    dump.close();
  }
}

/** Of a file with many records, the first and the last few. */
async function someLocators(path: string): Promise<string[]> {
  return withDump(path, async (dump) => {
    const [file] = dump.files;
    if (file === undefined) return [];
    await file.buildIndex(() => true);
    const locators = Array.from({ length: file.count }, (_, record) => file.locator(record));
    return locators.length <= 6 ? locators : [...locators.slice(0, 3), ...locators.slice(-3)];
  });
}

/** One line with the spans of several conversations, which are named as parts of that line. */
function tracesInOneLine(): string {
  const value = (stringValue: string) => ({ stringValue });
  const spans = ['a', 'b', 'c', 'd'].map((letter) => ({
    traceId: letter.repeat(32),
    spanId: letter.repeat(16),
    name: 'chat',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    attributes: [
      { key: 'gen_ai.operation.name', value: value('chat') },
      { key: 'gen_ai.input.messages', value: value('[{"role":"user","parts":[{"type":"text","content":"hi"}]}]') },
      {
        key: 'gen_ai.output.messages',
        value: value(`[{"role":"assistant","parts":[{"type":"text","content":"${letter.repeat(200_000)}"}]}]`),
      },
    ],
  }));
  const path = join(mkdtempSync(join(tmpdir(), 'find-row-')), 'traces.jsonl');
  writeFileSync(path, `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })}\n`);
  return path;
}

async function expectFound(path: string): Promise<number> {
  let found = 0;
  for (const locator of await someLocators(path)) {
    const place = parseLocator(locator);
    if (place.path !== path) continue;
    const { line } = place;
    const row = await withDump(path, (dump) =>
      findRow(dump, place, line === null ? undefined : { first: line, last: line }),
    );
    expect(row.locator).toBe(locator);
    found++;
  }
  return found;
}

test('a file is read as far as a locator needs: each that a list prints is found', async () => {
  let found = 0;
  for (const path of files) found += await expectFound(path);
  expect(found).toBeGreaterThan(200);
});

test('the last of several traces in one line is found', async () => {
  expect(await expectFound(tracesInOneLine())).toBe(4);
});

test('a far row of a parquet file is found without those before it', async () => {
  const rows = Array.from({ length: 5000 }, (_, at) => at);
  const path = join(mkdtempSync(join(tmpdir(), 'find-row-')), '1.parquet');
  const columnData = ['input', 'output'].map((name) => ({
    name,
    data: rows.map((at) => `${name} ${at} ${'word '.repeat(40)}`),
    type: 'STRING' as const,
  }));
  writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 500 })));
  const read = async (range?: LineRange) =>
    withDump(path, async (dump) => {
      const row = await findRow(dump, parseLocator(`${path}:4600`), range);
      const { raw, line, sample, locator, rollout } = row;
      return { row: { raw, line, sample, locator, turns: rollout?.turns.length }, bytes: row.file.copiedBytes };
    });
  const plain = await read();
  const far = await read({ first: 4600, last: 4600 });
  expect(far.row).toEqual(plain.row);
  expect(far.bytes / plain.bytes).toBeLessThan(0.2);
});
