import { Command } from 'commander';
import { type ErrorRow, ErrorTable } from '../analysis/errors/error-table.ts';
import { Dump } from '../dump/dump.ts';
import { type Printable, printJson } from '../json/print.ts';
import { csvCell, textTable } from '../present/text-table.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { ANSWER_IS_NO, DONE, print, run, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';

interface ErrorsOptions extends ReadingFlags {
  filter?: string;
  step?: boolean;
  json?: boolean;
  csv?: boolean;
}

export const errorsCommand = (): Command =>
  withReading(
    new Command('errors')
      .description('tool errors by tool and step: their kind, whose fault they were, calls beside them')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--filter <expr>', 'only rollouts that match it')
      .option('--no-step', 'all steps together')
      .option('--json', 'one JSON object a line')
      .option('--csv', 'comma-separated values, with a head'),
  ).action((paths: string[], options: ErrorsOptions) => run(() => errors(paths, options)));

async function errors(paths: readonly string[], options: ErrorsOptions): Promise<number> {
  const filter = filterOf(options.filter);
  const dump = Dump.open(paths, await dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  const table = new ErrorTable<string>();
  const { Subject } = await import('../analysis/query/subject.ts');
  let rollouts = 0;
  try {
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      if (file.error !== null) say(`${file.path}: ${file.error}`);
      for (let record = 0; record < file.count; record++) {
        const row = file.read(record);
        if (row.rollout === null || filter?.accepts(Subject.read(row)) === false) continue;
        rollouts++;
        const step = options.step === false ? null : (row.rollout.step ?? file.step);
        table.add(row.rollout, step, (turn) => `${row.locator}#t${turn}`);
      }
    }
  } finally {
    dump.close();
  }
  if (rollouts === 0) {
    say(filter === null ? 'no rollouts' : 'nothing matches --filter');
    return dump.hasRefused || dump.files.every(({ state }) => state === 'failed') ? USAGE : ANSWER_IS_NO;
  }
  const rows = table.rows();
  if (rows.length === 0) say(table.calls === 0 ? 'no tool was called' : 'no call failed');
  const HEAD = ['tool', 'step', 'kind', 'fault', 'exception', 'count', 'calls', 'first'] as const;
  const cells = (row: ErrorRow<string>): string[] => HEAD.map((name) => (row[name] === null ? '' : String(row[name])));
  const lines = options.json
    ? rows.map((row) => printJson(row as unknown as Printable))
    : rows.length === 0
      ? []
      : options.csv
        ? [[...HEAD], ...rows.map(cells)].map((line) => line.map(csvCell).join(','))
        : textTable([[...HEAD], ...rows.map(cells)], (column) => column === 1 || column === 5 || column === 6);
  for (const line of lines) await print(`${line}\n`);
  return DONE;
}
