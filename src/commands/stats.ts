import { Command } from 'commander';
import { type FactRows, readFactRows } from '../analysis/facts/fact-rows.ts';
import { compareValues, type SortValue } from '../analysis/query/sort.ts';
import { type SummaryRow, summarise } from '../analysis/summary.ts';
import { Dump } from '../dump/dump.ts';
import { type Printable, printJson } from '../json/print.ts';
import { csvCell, textTable } from '../present/text-table.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { ANSWER_IS_NO, DONE, print, run, say, USAGE } from './output.ts';
import { filterOf, sortOf } from './query-options.ts';

interface StatsOptions extends ReadingFlags {
  by: string;
  filter?: string;
  json?: boolean;
  csv?: boolean;
}

export const statsCommand = (): Command =>
  withReading(
    new Command('stats')
      .description('sum up rollouts by step, or by another key: scores, lengths, calls, findings')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--by <key>', 'a row for each value of it: step, stream, ended, or a key of the records', 'step')
      .option('--filter <expr>', 'only rollouts that it holds for')
      .option('--json', 'one JSON object a line')
      .option('--csv', 'comma-separated values, with a head'),
  ).action((paths: string[], options: StatsOptions) => run(() => stats(paths, options)));

interface Row {
  stream: string;
  value: SortValue;
  sum: SummaryRow;
}

/** A row for each stream and value: validation and training are never one mean. */
async function stats(paths: readonly string[], options: StatsOptions): Promise<number> {
  const filter = filterOf(options.filter);
  const order = sortOf(options.by)!;
  const dump = Dump.open(paths, await dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  const buckets = new Map<string, { stream: string; value: SortValue; members: number[] }>();
  let all: FactRows;
  let columns: [readonly (string | null)[], readonly (string | null)[], Float64Array];
  try {
    all = await readFactRows(dump, filter);
    columns = [all.words('stream'), all.words(order.key), all.numbers(order.key)];
  } finally {
    dump.close();
  }
  for (const file of dump.files) if (file.error !== null) say(`${file.path}: ${file.error}`);
  const [streams, words, numbers] = columns;
  for (let row = 0; row < all.length; row++) {
    const stream = streams[row]!;
    const value = words[row] ?? (Number.isNaN(numbers[row]!) ? null : numbers[row]!);
    const key = `${stream}\0${typeof value}\0${value}`;
    const known = buckets.get(key);
    if (known === undefined) buckets.set(key, { stream, value, members: [row] });
    else known.members.push(row);
  }
  const rows = [...buckets.values()]
    .map(({ stream, value, members }): Row => ({ stream, value, sum: summarise(all, members) }))
    .sort((a, b) =>
      a.stream === b.stream ? compareValues(a.value, b.value, order.descending) : a.stream < b.stream ? -1 : 1,
    );
  if (rows.length === 0) {
    if (dump.hasRefused || dump.files.every(({ state }) => state === 'failed')) return USAGE;
    say(filter === null ? 'no rollouts' : 'nothing matches --filter');
    return ANSWER_IS_NO;
  }
  if (rows.every(({ value }) => value === null)) say(`--by: no rollout here has ${order.key}`);
  for (const line of options.json
    ? rows.map((row) => printJson(jsonOf(row, order.key)))
    : tableOf(rows, order.key, options.csv === true))
    await print(`${line}\n`);
  return DONE;
}

const jsonOf = ({ stream, value, sum }: Row, key: string): { [name: string]: Printable } => ({
  stream,
  [key]: value,
  rollouts: sum.rollouts,
  bad_records: sum.bad,
  scored: sum.scored,
  score_mean: sum.mean,
  score_deviation: sum.deviation,
  facts: Object.fromEntries(sum.facts),
  findings: Object.fromEntries(sum.findings),
  observed: Object.fromEntries(sum.observed),
});

/** Findings and facts that no row has get no column. */
function tableOf(rows: readonly Row[], key: string, isCsv: boolean): string[] {
  const facts = [...(rows[0]?.sum.facts.keys() ?? [])].filter((name) =>
    rows.some(({ sum }) => sum.facts.get(name) != null),
  );
  const checks = [...new Set(rows.flatMap(({ sum }) => [...sum.findings.keys()]))];
  // A cell of the table says of how many: 3/40.
  const observed = isCsv ? checks : [];
  const head = ['stream', key, 'rollouts', 'bad', 'scored', 'score', 'deviation', ...facts, ...checks];
  head.push(...observed.map((check) => `${check}_observed`));
  const body = rows.map(({ stream, value, sum }) => [
    stream,
    value === null ? '' : String(value),
    ...[sum.rollouts, sum.bad, sum.scored].map(String),
    ...[sum.mean, sum.deviation, ...facts.map((name) => sum.facts.get(name) ?? null)].map(numberText),
    ...checks.map((check) => foundText(sum, check, isCsv)),
    ...observed.map((check) => String(sum.observed.get(check) ?? 0)),
  ]);
  if (isCsv) return [head, ...body].map((cells) => cells.map(csvCell).join(','));
  // Names stand at the left, numbers under each other.
  return textTable([head, ...body], (column) => column > 0);
}

/** '' where no rollout gave the check anything to look at. */
function foundText({ findings, observed }: SummaryRow, check: string, isCsv: boolean): string {
  const found = findings.get(check) ?? 0;
  const of = observed.get(check) ?? 0;
  return isCsv ? String(found) : of === 0 ? '' : `${found}/${of}`;
}

const numberText = (value: number | null): string =>
  value === null ? '' : Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 3 : 1);
