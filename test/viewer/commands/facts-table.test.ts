import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, jsonLines, root } from '../../program.ts';

const DUMP = join(root, 'fixtures/rollout_data');
/** An interpreter with DuckDB. */
const python = process.env.DUCKDB_PYTHON ?? 'python3';
const hasDuckdb = spawnSync(python, ['-c', 'import duckdb']).status === 0;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'facts-table-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

type Row = Record<string, unknown>;

async function written(...args: string[]): Promise<Row[]> {
  const path = join(folder, 'facts.parquet');
  const { code, stderr } = await ask(['facts', ...args, '--parquet', path]);
  expect(stderr + code).toContain('rollouts');
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  return parquetReadObjects({ file });
}

describe('facts', () => {
  test('keys that give the same word have a column each, whatever their case', async () => {
    const path = join(folder, 'keys.jsonl');
    const record = { input: 'q', output: 'a', score: 1, step: 1, run_id: 7, Run_ID: 8, run: { id: 9 }, run_id_2: 10 };
    writeFileSync(path, `${JSON.stringify(record)}\n`.repeat(2));
    const [row = {}] = await written(path);
    const columns = Object.keys(row).filter((name) => /^extras_run/i.test(name));
    expect(new Set(columns.map((name) => name.toLowerCase())).size).toBe(4);
    expect(columns.map((name) => row[name]).sort()).toEqual([10, 7, 8, 9]);
  });

  test('the file has the values that ls prints of each rollout, with null for what is unknown', async () => {
    const rows = await written(DUMP);
    const listed: Row[] = jsonLines((await ask(['ls', '--json', DUMP])).stdout);
    expect(rows.map(({ locator }) => locator)).toEqual(listed.map(({ locator }) => locator));
    for (const [at, row] of rows.entries()) {
      const one = listed[at] ?? {};
      for (const [name, value] of Object.entries(row)) {
        const key = Object.keys(one).find((known) => known.replaceAll('.', '_') === name);
        // JSON has no NaN.
        const told = typeof value === 'number' && Number.isNaN(value) ? 'NaN' : (value ?? null);
        if (key !== undefined) expect([name, told]).toEqual([name, one[key] ?? null]);
      }
      const names = (one.findings as { check: string }[]).map(({ check }) => `finding_${check}`);
      for (const name of Object.keys(row).filter((key) => key.startsWith('finding_')))
        if (row[name] === true || names.includes(name)) expect([name, row[name]]).toEqual([name, names.includes(name)]);
      expect(row.run).toBe(DUMP);
    }
  });

  test('CSV has the same columns and cells', async () => {
    const rows = await written(DUMP);
    const { stdout } = await ask(['facts', DUMP, '--csv']);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head?.split(',')).toEqual(Object.keys(rows[0] ?? {}));
    expect(lines).toHaveLength(rows.length);
    const told = rows.map((row) => Object.values(row).map((cell) => String(cell ?? '')));
    // A cell with a comma is quoted.
    const plain = lines.flatMap((line, at) => (line.includes('"') ? [] : [at]));
    expect(plain.length).toBeGreaterThan(10);
    expect(plain.map((at) => lines[at]?.split(','))).toEqual(plain.map((at) => told[at]));
  });

  test('only what a filter lets through; one form is named; a file that cannot be written is left as it was', async () => {
    const rows = await written(DUMP, '--filter', 'tool_calls > 0');
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every((row) => Number(row.tool_calls) > 0)).toBe(true);
    expect((await ask(['facts', DUMP])).code).toBe(2);
    mkdirSync(join(folder, 'taken'));
    const refused = await ask(['facts', DUMP, '--parquet', join(folder, 'taken')]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('cannot be written');
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('a dump, or any file but a table, is never replaced', async () => {
    const dump = join(folder, 'dump.jsonl');
    const table = join(folder, 'dump.parquet');
    writeFileSync(dump, '{"input":"q","output":"a","score":1,"step":1}\n');
    expect((await ask(['facts', dump, '--parquet', table])).code).toBe(0);
    expect((await ask(['facts', dump, '--parquet', table])).code).toBe(0);
    for (const [from, to] of [
      [dump, dump],
      [table, table],
      [table, dump],
    ] as const) {
      const before = readFileSync(to);
      const { code, stderr } = await ask(['facts', from, '--parquet', to]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('name')]);
      expect(readFileSync(to)).toEqual(before);
    }
  });
});

describe('sql', () => {
  const sql = (query: string, ...flags: string[]) => ask(['sql', DUMP, query, '--python', python, ...flags]);

  test('without DuckDB it says how to get it, and what does without', async () => {
    const { code, stderr } = await ask(['sql', DUMP, 'select 1', '--python', 'no-such-python']);
    expect(code).toBe(2);
    expect(stderr).toContain('pip install duckdb');
    expect(stderr).toContain('facts --parquet');
  });

  test.skipIf(!hasDuckdb)(
    'answers as stats does; no rows is the answer no (skipped without DuckDB for Python)',
    async () => {
      const { stdout } = await sql(
        "select step, count(*) as rollouts from rollouts where stream = 'train' group by step order by step",
        '--json',
      );
      const { stdout: stats } = await ask(['stats', DUMP, '--json', '--filter', "stream == 'train'"]);
      expect(jsonLines(stdout).map(({ step, rollouts }) => [step, rollouts])).toEqual(
        jsonLines(stats).map(({ step, rollouts }) => [step, rollouts]),
      );
      expect((await sql('select * from rollouts where step = -5')).code).toBe(1);
    },
  );

  test.skipIf(!hasDuckdb)(
    'a query reads and writes no file; a mistake is shown where it is (skipped without DuckDB for Python)',
    async () => {
      const secret = join(folder, 'secret.csv');
      writeFileSync(secret, 'a\n1\n');
      for (const query of [
        `select * from read_csv('${secret}')`,
        `copy rollouts to '${join(folder, 'out.csv')}'`,
        'set enable_external_access = true',
        'install httpfs',
      ])
        expect([query, (await sql(query)).code]).toEqual([query, 2]);
      expect(readdirSync(folder)).not.toContain('out.csv');
      const wrong = await sql('selec 1');
      expect(wrong.code).toBe(2);
      expect(wrong.stderr).toContain('selec 1\n');
    },
  );

  test.skipIf(!hasDuckdb)(
    'a module in the current folder is not imported (skipped without DuckDB for Python)',
    async () => {
      const place = join(folder, 'strange');
      mkdirSync(place);
      writeFileSync(join(place, 'duckdb.py'), `open(${JSON.stringify(join(place, 'ran'))}, 'w')`);
      spawnSync(process.execPath, [join(root, 'dist/rollout-viewer.js'), 'sql', DUMP, 'select 1', '--python', python], {
        cwd: place,
      });
      expect(readdirSync(place)).toEqual(['duckdb.py']);
    },
  );
});
