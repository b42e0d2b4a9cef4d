import { Command } from 'commander';
import { writeColumns } from '../../analysis/export/files/parquet-file.ts';
import type { FactRows } from '../../analysis/facts/fact-rows.ts';
import { type FactColumn, factColumns } from '../../analysis/facts/facts-table.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { plural } from '../../core/text/numbers.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { refuseOthers, refuseSources } from './export-target.ts';
import { factLines } from './fact-lines.ts';
import { withFacts } from './facts-of.ts';
import { DONE, LineWriter, run, say } from './output.ts';
import { csvCells } from './row-csv.ts';

interface FactsFileFlags extends ReadingFlags {
  parquet?: string;
  csv?: boolean;
  filter?: string;
  journal?: string;
}

export const factsCommand = (): Command =>
  withReading(
    new Command('facts')
      .description('write the table of facts for other tools: one row per rollout, one column per fact')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--parquet <file>', 'write a Parquet file, whole or not at all')
      .option('--csv', 'write comma-separated values with a header line to stdout')
      .option('--filter <expr>', 'only rollouts that match it')
      .option('--journal <dir>', 'where to find the labels that a filter names'),
  ).action((paths: string[], flags: FactsFileFlags) => run(() => writeFacts(paths, flags)));

async function writeFacts(paths: readonly string[], flags: FactsFileFlags): Promise<number> {
  const { parquet, csv, ...reading } = flags;
  if ((parquet === undefined) === (csv !== true)) throw new UsageError('name one form: --parquet FILE or --csv');
  if (parquet !== undefined) {
    refuseSources([parquet], paths, await dumpOptions(flags), [], '--parquet');
    refuseOthers(parquet, 'PAR1', '--parquet', 'Parquet file');
  }
  return withFacts(paths, reading, async (facts) => {
    if (parquet === undefined) await printColumns(tableOf(facts, paths), facts.length);
    else await writeParquet(parquet, facts, paths);
    return DONE;
  });
}

/** @throws UsageError if the file cannot be written */
export async function writeParquet(
  path: string,
  facts: FactRows,
  paths: readonly string[],
  isSaid = true,
): Promise<void> {
  const columns = tableOf(facts, paths);
  try {
    await writeColumns(path, columns, facts.length);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${reasonOf(error)}`);
  }
  if (isSaid) say(`${path}: ${plural(facts.length, 'rollout')}, ${plural(columns.length, 'column')}`);
}

/** A file is of the longest path that leads to it; a file of a pattern is of its own folder. */
function tableOf(facts: FactRows, paths: readonly string[]): FactColumn[] {
  const folders = paths.map((path) => path.replace(/(?<=.)\/+$/, '')).sort((a, b) => b.length - a.length);
  const runs = new Map<string, string>();
  return factColumns(facts, (path) => {
    let known = runs.get(path);
    if (known === undefined) {
      known = folders.find((folder) => path === folder || path.startsWith(`${folder}/`)) ?? path;
      runs.set(path, known);
    }
    return known;
  });
}

async function printColumns(columns: readonly FactColumn[], rows: number): Promise<void> {
  const out = new LineWriter();
  await out.add(`${csvCells(columns.map(({ name }) => name))}\n`);
  const addLine = factLines(columns, rows);
  for (let row = 0; row < rows; row++) {
    addLine(row, out.bytes);
    const full = out.ended();
    if (full) await full;
  }
  await out.end();
}
