import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { CellValue, Report } from '../../analysis/report/report.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { parseJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { type ReadingFlags, withReading } from './dump-options.ts';
import { writeParquet } from './facts.ts';
import { withFacts } from './facts-of.ts';
import { ANSWER_IS_NO, DONE, run } from './output.ts';
import { printReport } from './print-report.ts';
import QUERY from './sql.py';

interface SqlFlags extends ReadingFlags {
  json?: boolean;
  csv?: boolean;
  python: string;
}

export const sqlCommand = (): Command =>
  withReading(
    new Command('sql')
      .description('run an SQL query on the table of facts, named rollouts; needs DuckDB for Python')
      .argument('<paths...>', 'directories, files or patterns of dumps, then the query')
      .option('--json', 'one JSON object per line')
      .option('--csv', 'comma-separated values, with a header line')
      .option('--python <command>', 'the interpreter that has DuckDB (pip install duckdb)', 'python3'),
  ).action((args: string[], flags: SqlFlags) => run(() => sql(args.slice(0, -1), args.at(-1) ?? '', flags)));

async function sql(paths: readonly string[], query: string, flags: SqlFlags): Promise<number> {
  if (paths.length === 0)
    throw new UsageError('name a dump and, at the end, a query: sql DIR "select count(*) from rollouts"');
  const { json = false, csv = false, python, ...reading } = flags;
  // A folder of our own, also because Python imports what lies in the current one.
  const folder = mkdtempSync(join(tmpdir(), 'rollout-viewer-sql-'));
  try {
    return await withFacts(paths, reading, async (facts) => {
      const file = join(folder, 'rollouts.parquet');
      await writeParquet(file, facts, paths, false);
      const answer = await answerTo(query, file, folder, python);
      await printReport(answerReport(answer), { json, csv });
      return answer.rows.length === 0 ? ANSWER_IS_NO : DONE;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface SqlAnswer {
  names: string[];
  rows: JsonValue[][];
}

function answerReport({ names, rows }: SqlAnswer): Report<readonly JsonValue[]> {
  return {
    title: plural(rows.length, 'row'),
    columns: names.map((name, at) => ({
      // A dot would make it a part of a detail.
      key: name.replaceAll('.', '_'),
      title: name,
      type: rows.every((row) => typeof row[at] === 'number' || row[at] === null) ? 'number' : 'text',
      meaning: 'of the query',
      value: (row) => sqlCell(row[at]),
    })),
    rows,
    empty: 'no rows',
  };
}

const sqlCell = (value: JsonValue | undefined): CellValue =>
  value === undefined || typeof value === 'bigint' || typeof value === 'object'
    ? value === null || value === undefined
      ? null
      : printJson(value)
    : value;

/** @throws UsageError that names what is missing, or what is wrong with the query */
async function answerTo(query: string, file: string, folder: string, python: string): Promise<SqlAnswer> {
  const child = spawn(python, ['-c', QUERY, file], { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | string | null>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code));
  });
  child.stdin.on('error', () => {});
  child.stdin.end(query);
  const said = text(child.stderr);
  const lines: JsonValue[][] = [];
  for await (const line of createInterface(child.stdout)) {
    const value = parseJson(line);
    if (Array.isArray(value)) lines.push(value);
  }
  const code = await ended;
  if (typeof code === 'string' || code === NO_DUCKDB)
    throw new UsageError(
      `sql needs DuckDB in ${python}: \`${python} -m pip install duckdb\`, or name an interpreter that has it with --python; \`facts --parquet FILE\` writes the table for other tools`,
    );
  if (code !== 0) {
    const [first = '', ...more] = (await said).trim().split('\n');
    throw new UsageError(`the query failed: ${first || `${python} ended with ${code}`}`, more.map(sanitiseLine));
  }
  const [names, ...rows] = lines;
  return { names: (names ?? []).map(String), rows };
}

/** The exit status of our program in Python. */
const NO_DUCKDB = 4;
