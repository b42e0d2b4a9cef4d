import { Command } from 'commander';
import { Dump } from '../dump/dump.ts';
import { type Printable, printJson } from '../json/print.ts';
import { csvCell, textTable } from '../present/text-table.ts';
import { type Rollout, toolCallsOf } from '../rollout/rollout.ts';
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
      .option('--filter <expr>', 'only rollouts that it holds for')
      .option('--no-step', 'all steps together')
      .option('--json', 'one JSON object a line')
      .option('--csv', 'comma-separated values, with a head'),
  ).action((paths: string[], options: ErrorsOptions) => run(() => errors(paths, options)));

/** Calls of one tool in one step, and what went wrong with those of one kind; empty and cut results are no errors. */
interface Row {
  tool: string;
  step: number | null;
  kind: string;
  fault: string | null;
  exception: string | null;
  count: number;
  calls: number;
  first: string;
}

/** What a call came to that is no error, and is worth a count. */
const EMPTY = 'empty';
const CUT = 'cut';

async function errors(paths: readonly string[], options: ErrorsOptions): Promise<number> {
  const filter = filterOf(options.filter);
  const dump = Dump.open(paths, await dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  const table = new ErrorTable();
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
        table.add(row.rollout, step, row.locator);
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
  const cells = (row: Row): string[] => HEAD.map((name) => (row[name] === null ? '' : String(row[name])));
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

class ErrorTable {
  readonly #rows = new Map<string, Row>();
  readonly #calls = new Map<string, number>();
  calls = 0;

  add(rollout: Rollout, step: number | null, locator: string): void {
    const byResult = new Map<number, string>();
    const byTurn = new Map<number, string>();
    for (const turn of rollout.turns)
      for (const { name, resultTurn, error } of turn.toolCalls) {
        const tool = name ?? '?';
        if (resultTurn !== null) byResult.set(resultTurn, tool);
        if (error !== null) byTurn.set(turn.index, tool);
      }
    for (const { name } of toolCallsOf(rollout)) {
      const key = `${name ?? '?'}\0${step}`;
      this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1);
      this.calls++;
    }
    for (const { check, turn, error } of rollout.findings) {
      if (turn === null) continue;
      const tool = byResult.get(turn) ?? byTurn.get(turn) ?? '?';
      const place = `${locator}#t${turn}`;
      if (error !== undefined) this.#count(tool, step, error.kind, error.fault, error.exception, place);
      else if (check === 'tool_cut') this.#count(tool, step, CUT, null, null, place);
    }
    for (const [turn, tool] of byResult)
      if (rollout.turns[turn]?.text.trim() === '') this.#count(tool, step, EMPTY, null, null, `${locator}#t${turn}`);
  }

  #count(
    tool: string,
    step: number | null,
    kind: string,
    fault: string | null,
    exception: string | null,
    first: string,
  ): void {
    const key = [tool, step, kind, fault, exception].join('\0');
    const row = this.#rows.get(key) ?? { tool, step, kind, fault, exception, count: 0, calls: 0, first };
    row.count++;
    this.#rows.set(key, row);
  }

  rows(): Row[] {
    return [...this.#rows.values()]
      .map((row) => ({ ...row, calls: this.#calls.get(`${row.tool}\0${row.step}`) ?? 0 }))
      .sort((a, b) => compare(a.tool, b.tool) || (a.step ?? -1) - (b.step ?? -1) || b.count - a.count);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
