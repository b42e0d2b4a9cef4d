import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Command, InvalidArgumentError } from 'commander';
import { arePromptsAlike, Groups } from '../analysis/groups.ts';
import type { Query } from '../analysis/query/query.ts';
import { compareValues, type SortOrder, type SortValue, sortValue } from '../analysis/query/sort.ts';
import { Subject } from '../analysis/query/subject.ts';
import { Dump } from '../dump/dump.ts';
import type { DumpFile, DumpRecord } from '../dump/dump-file.ts';
import { UsageError } from '../dump/paths.ts';
import { dumpOfStream } from '../dump/stream-file.ts';
import { printJson } from '../json/print.ts';
import { listColumns, listHeader, listLine } from '../present/list-text.ts';
import { groupKeyOf } from '../rollout/group-key.ts';
import { dumpOptions, notifyOption, pollOption, validationOption } from './dump-options.ts';
import { followPaths, followStream } from './follow.ts';
import { ANSWER_IS_NO, DONE, hasColour, print, run, say, USAGE } from './output.ts';
import { conditionsOf, filterOf, sortOf } from './query-options.ts';
import { rowJson } from './row-json.ts';

export interface LsOptions {
  json?: boolean;
  limit?: number;
  follow?: boolean;
  events?: boolean;
  poll?: number;
  notify?: string[];
  validation?: string[];
  filter?: string;
  sort?: string;
}

export const lsCommand = (): Command =>
  new Command('ls')
    .description('list rollouts, one a line')
    .argument('<paths...>', 'directories, files or patterns of dumps, or - for a stream on stdin')
    .option('--json', 'one JSON object a line')
    .option('--follow', 'go on with what comes; waits for a path that does not exist yet')
    .option('--events', 'with --follow: say of each row whether it was added, replaced or removed')
    .addOption(pollOption())
    .addOption(notifyOption())
    .option(
      '--filter <expr>',
      "only rollouts that it holds for: 'score < 0.5 && output ~ /sorry/i || finding:tool_error'",
    )
    .option('--sort <key>', 'by score, step, turns, … or a key of the records; score:desc for the highest first')
    .option('--limit <n>', 'at most so many rows', countOf)
    .addOption(validationOption())
    .action((paths: string[], options: LsOptions) => run(() => ls(paths, options)));

export function countOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`"${text}" is no whole number from 0.`);
  return Number(text);
}

/** Prints the list; without rows the answer is no. */
export async function ls(paths: readonly string[], options: LsOptions): Promise<number> {
  const filter = filterOf(options.filter);
  const order = sortOf(options.sort);
  const notify = conditionsOf(options.notify);
  const stream = streamOf(paths);
  if (notify.length > 0 && stream === null && !options.follow)
    throw new UsageError('--notify tells of steps as they become complete: it goes with --follow');
  if (order !== null && (stream !== null || options.follow))
    throw new UsageError('--sort needs all rollouts at once: it goes neither with --follow nor with a stream');
  const following = {
    ...options,
    notify,
    accepts: (row: DumpRecord) => filter?.accepts(Subject.read(row)) ?? true,
  };
  if (stream !== null) return ended(await followStream(dumpOfStream(stream), following), filter);
  if (options.follow)
    return followPaths(Dump.open(paths, { ...dumpOptions(options), waits: true, holdBack: 'always' }), following);
  const dump = Dump.open(paths, dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const columns = listColumns(dump.files.map((file) => file.path));
  let printed = 0;
  if (!options.json) await print(`${listHeader(columns)}\n`);
  try {
    for await (const { row, group } of order === null
      ? listed(dump, filter, options)
      : sorted(dump, filter, order, options)) {
      if (printed >= limit) break;
      await print(options.json ? `${printJson(rowJson(row, group))}\n` : `${listLine(row, columns, hasColour())}\n`);
      printed++;
    }
  } finally {
    dump.close();
  }
  if (dump.hasRefused || dump.files.every((file) => file.state === 'failed')) return USAGE;
  return ended(printed, filter);
}

function ended(rows: number, filter: Query | null): number {
  if (rows === 0) say(filter === null ? 'no rollouts' : 'nothing matches --filter');
  return rows === 0 ? ANSWER_IS_NO : DONE;
}

/** stdin, or the pipe that a shell makes of `<(…)`; null for paths that can be read anywhere. */
function streamOf(paths: readonly string[]): Readable | null {
  const [path] = paths;
  if (paths.includes('-') && paths.length > 1) throw new UsageError('- is the stream on stdin and stands alone');
  if (paths.length !== 1 || path === undefined) return null;
  if (path === '-') return process.stdin;
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ? createReadStream(path) : null;
}

interface Listed {
  row: DumpRecord;
  group: string | null;
}

/** The rows that the filter lets through, file after file. */
async function* listed(dump: Dump, filter: Query | null, { json }: LsOptions): AsyncGenerator<Listed> {
  for (const file of dump.files) {
    await file.buildIndex(() => true);
    if (file.error !== null) say(`${file.path}: ${file.error}`);
    yield* rowsOf(file, json === true, filter);
  }
}

/** As `listed`, in order. Places are sorted, and each record is read again when its turn comes, so that memory stays small. */
async function* sorted(dump: Dump, filter: Query | null, order: SortOrder, options: LsOptions): AsyncGenerator<Listed> {
  const places: { file: DumpFile; record: number; group: string | null; value: SortValue }[] = [];
  for await (const { row, group } of listed(dump, filter, options)) {
    places.push({ file: row.file, record: row.record, group, value: sortValue(order, Subject.read(row)) });
  }
  if (places.length > 0 && places.every(({ value }) => value === null))
    say(`--sort: no rollout here has ${order.key}; they stand as they lie on disk`);
  // Sorting is stable: what is equal stays in the order of the files.
  places.sort((a, b) => compareValues(a.value, b.value, order.descending));
  for (const { file, record, group } of places) yield { row: file.read(record), group };
}

/**
 * A file's rows with their groups. Whether prompts can tell groups apart is known at the first one that differs,
 * so rows are held back only as long as all prompts are equal.
 */
function* rowsOf(file: DumpFile, wantsGroups: boolean, filter: Query | null): Generator<Listed> {
  if (!wantsGroups) {
    for (const row of rowsThrough(filter, file)) yield { row, group: null };
    return;
  }
  const keyOf = (row: DumpRecord) => (row.rollout === null ? null : groupKeyOf(row.rollout));
  const head: ReturnType<typeof keyOf>[] = [];
  let isDecided = false;
  for (let record = 0; record < file.count && !isDecided; record++) {
    head.push(keyOf(file.read(record)));
    const known = head.filter((key) => key?.from === 'prompt');
    isDecided = known.length > 1 && !arePromptsAlike(known);
  }
  const { reason } = new Groups(head);
  for (const row of rowsThrough(filter, file)) {
    const key = head[row.record] ?? keyOf(row);
    yield { row, group: key === null || (reason !== null && key.from === 'prompt') ? null : key.key };
  }
}

/** What the filter turns away is not even parsed where the index can tell. */
function* rowsThrough(filter: Query | null, file: DumpFile): Generator<DumpRecord> {
  for (let record = 0; record < file.count; record++) {
    const subject = Subject.of({ file, record });
    if (filter === null || filter.accepts(subject)) yield subject.record;
  }
}
