import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { layWhole, readFactRows } from '../../analysis/facts/fact-rows.ts';
import { passing, passingWithDetails } from '../../analysis/facts/passing.ts';
import { fieldCost } from '../../analysis/query/fields.ts';
import type { KeptLookup } from '../../analysis/query/kept.ts';
import { knownValue } from '../../analysis/query/on-columns.ts';
import type { Query } from '../../analysis/query/query.ts';
import { compareValues, type SortOrder, type SortValue, sortable, sortValue } from '../../analysis/query/sort.ts';
import { Subject } from '../../analysis/query/subject.ts';
import { IN_RECORD } from '../../core/dump/cell-column.ts';
import { Dump, type Place } from '../../core/dump/dump.ts';
import type { DumpFile, DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { dumpOfStream } from '../../core/dump/stream-file.ts';
import type { UnknownRecords } from '../../core/dump/unknown-records.ts';
import { failedText, Unmade } from '../../core/dump/unmade.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import { FirstOf } from '../../core/lists/first-of.ts';
import { sizeText } from '../../core/text/quantities.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import { labelWords } from '../present/label-text.ts';
import { listColumns, listHeader, listLine } from '../present/list-text.ts';
import { countOf } from './count.ts';
import { DataLines } from './data-lines.ts';
import { dumpOptions, notifyOption, pollOption, type ReadingFlags, withReading } from './dump-options.ts';
import type { FileGroups } from './file-groups.ts';
import { isRoundedStep, sayRoundedSteps, sayWithoutRollouts } from './file-notes.ts';
import { followPaths, followStream } from './follow.ts';
import { keptOf } from './kept-of.ts';
import { ANSWER_IS_NO, DONE, hasColour, print, printStyled, run, say, USAGE } from './output.ts';
import { conditionsOf, filterOf, sortOf } from './query-options.ts';
import { csvHead } from './row-csv.ts';
import { rowLabels } from './row-labels.ts';
import { tokenizerOption } from './tokenizer-option.ts';

export interface LsOptions extends ReadingFlags {
  by?: string | true;
  csv?: boolean;
  json?: boolean;
  underWay?: boolean;
  limit?: number;
  follow?: boolean;
  events?: boolean;
  poll?: number;
  notify?: string[];
  filter?: string;
  sort?: string;
  journal?: string;
  tokenizer?: string;
}

export const lsCommand = (): Command =>
  withReading(
    new Command('ls')
      .description('list rollouts, one per line')
      .argument('<paths...>', 'directories, files or patterns of dumps, or - for a stream on stdin')
      .option('--json', 'one JSON object per line')
      .option('--under-way', 'list unfinished rollouts instead, as reported by their writers')
      .option('--follow', 'print new rollouts as they arrive; waits for a path that does not exist yet')
      .option('--events', 'with --follow: mark each row as added, replaced or removed')
      .addOption(pollOption())
      .addOption(notifyOption())
      .option(
        '--filter <expr>',
        "only rollouts that match it: 'score < 0.5 && output ~ /sorry/i || finding:tool_error'",
      )
      .option('--journal <dir>', 'where to find the results and labels for `again` and `label` in a filter')
      .option('--sort <key>', 'sort by score, step, turns … or a key of the records; score:desc for the highest first')
      .option('--by [key]', 'print one row per step, or per value of another key, as `stats` does')
      .option('--csv', 'comma-separated values with a header line, one column per fact')
      .option('--limit <n>', 'print at most this many rows', countOf)
      .addOption(tokenizerOption()),
  ).action((paths: string[], options: LsOptions) => run(() => ls(paths, options)));

/** Prints the list; without rows, the exit status is 1. */
export async function ls(paths: readonly string[], options: LsOptions): Promise<number> {
  if (options.by !== undefined) {
    const { stats } = await import('./stats.ts');
    return stats(paths, { ...options, by: options.by === true ? 'step' : options.by });
  }
  if (options.underWay) {
    const { lsUnderWay } = await import('./ls-under-way.ts');
    return lsUnderWay(paths, options, await dumpOptions(options));
  }
  const filter = filterOf(options.filter);
  const order = sortOf(options.sort);
  const notify = conditionsOf(options.notify);
  const kept = await keptOf(filter, paths, options.journal);
  const stream = streamOf(paths);
  if (options.csv && (stream !== null || options.follow))
    throw new UsageError('--csv lists a finished dump: it does not work with --follow or a stream');
  if (notify.length > 0 && stream === null && !options.follow)
    throw new UsageError('--notify reports steps as they become complete: it needs --follow');
  if (order !== null && (stream !== null || options.follow))
    throw new UsageError('--sort needs all rollouts at once: it goes neither with --follow nor with a stream');
  if (filter?.asksSignals && (stream !== null || options.follow))
    throw new UsageError(
      '--filter: a finding of a whole step is known once the step is complete; --follow cannot wait for it',
    );
  const following = {
    ...options,
    notify,
    accepts: (row: DumpRecord) => filter?.accepts(Subject.read(row, kept)) ?? true,
  };
  if (stream !== null)
    return exitCode(
      await followStream(dumpOfStream(stream, await dumpOptions(options, options.tokenizer)), following),
      filter,
    );
  if (options.follow)
    return followPaths(
      Dump.open(paths, { ...(await dumpOptions(options, options.tokenizer)), waits: true, holdBack: 'always' }),
      following,
    );
  const dump = Dump.open(paths, await dumpOptions(options, options.tokenizer));
  for (const notice of dump.notices) say(notice);
  for (const { folder, causes } of new Unmade().of(dump.files)) say(`${folder}: ${failedText(causes)}`);
  if (order?.field.type === 'group') await readFactRows(dump, null);
  await layWhole(dump, filter);
  const asked = { filter, kept };
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const labels = await rowLabels(itemAt(paths, 0), options.journal);
  const columns = listColumns(dump.files.map((file) => shownPath(file.path)));
  const unknown = new Map<DumpFile, UnknownRecords>();
  const data = options.csv || options.json ? new DataLines(options.csv === true, labels) : null;
  let printed = 0;
  let rollouts = 0;
  let isRounded = false;
  if (options.csv) await print(csvHead());
  else if (!options.json) await print(`${listHeader(columns)}\n`);
  try {
    const needs = data !== null && limit === Number.POSITIVE_INFINITY && isLarge(dump) ? 'details' : null;
    const lists =
      order === null
        ? listed(dump, asked, options, needs, data?.groups)
        : sortedLists(dump, asked, order, limit, needs);
    for await (const { file, records } of lists) {
      for (const record of records) {
        if (printed >= limit) break;
        printed++;
        isRounded ||= isRoundedStep(file.stepOf(record));
        const details = data === null ? null : file.details(record);
        if (data !== null && details !== null) {
          const full = data.addKept(file, record, details);
          if (full) await full;
          if (details.format !== null) rollouts++;
          continue;
        }
        const row = file.read(record);
        if (data !== null) {
          await data.add(data.read(row));
          await data.end();
        } else await printStyled(`${listLine(row, columns, hasColour(), labelWords(labels.of(row.raw)))}\n`);
        if (row.rollout !== null) rollouts++;
        if (row.isUnknown && isJsonObject(row.json)) {
          const known = unknown.get(file);
          if (known === undefined) unknown.set(file, { count: 1, first: row.json });
          else known.count++;
        }
      }
      if (printed >= limit) break;
    }
    await data?.end();
    await dump.whenKept();
  } finally {
    dump.close();
  }
  sayWithoutRollouts(dump.files, printed === 0 && filter === null, unknown);
  if (isRounded) sayRoundedSteps();
  const better = data?.groups.better ?? null;
  if (better !== null) say(`rollouts of one ${better} have different prompts: --group-by ${better} puts them together`);
  if (dump.hasRefused || dump.files.every((file) => file.state === 'failed')) return USAGE;
  if (printed > 0 && rollouts === 0 && printed < limit && filter === null) {
    say(
      'no rollout in it: no format recognises its records; describe them by --format, --map or formats: in config.yaml',
    );
    return ANSWER_IS_NO;
  }
  return exitCode(printed, filter);
}

function exitCode(rows: number, filter: Query | null): number {
  if (rows === 0) say(filter === null ? 'no rollouts' : 'nothing matches --filter');
  return rows === 0 ? ANSWER_IS_NO : DONE;
}

/** stdin, or the pipe that a shell makes of `<(…)`; null for paths with random access. */
function streamOf(paths: readonly string[]): Readable | null {
  const [path] = paths;
  if (paths.includes('-') && paths.length > 1)
    throw new UsageError('- is the stream on stdin: give no other path with it');
  if (paths.length !== 1 || path === undefined) return null;
  if (path === '-') return process.stdin;
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ? createReadStream(path) : null;
}

interface ListRequest {
  filter: Query | null;
  kept: KeptLookup | undefined;
}

/** The files of a dump, each once it is indexed. @param isEnough ends the copying of a file's records early */
async function* indexedFiles(
  dump: Dump,
  isEnough: (file: DumpFile) => boolean = () => false,
): AsyncGenerator<DumpFile> {
  for (const file of dump.files) {
    await file.buildIndex(() => file.copiedBytes === 0 || !isEnough(file));
    if (file.error !== null) say(`${file.path}: ${file.error}`);
    if (file.copiedBytes > LARGE_COPY) say(`${file.path}: ${fileCost(file)}`);
    yield file;
  }
}

async function* listed(
  dump: Dump,
  asked: ListRequest,
  { limit }: LsOptions,
  needs: 'details' | null,
  groups: FileGroups | undefined,
): AsyncGenerator<FileList> {
  // The next file may have to be fetched.
  let left = asked.filter === null ? limit : undefined;
  const isEnough = (file: DumpFile): boolean =>
    left !== undefined && file.count >= left && (groups?.areKnown(file, left) ?? true);
  for await (const file of indexedFiles(dump, isEnough)) {
    if (needs !== null)
      for await (const records of passingWithDetails(dump, file, asked.filter, asked.kept)) yield { file, records };
    else
      for await (const record of passing(dump, file, asked.filter, asked.kept)) {
        yield { file, records: [record] };
        if (left !== undefined && --left <= 0) return;
      }
  }
}

/** Neighbours in the list. */
interface FileList {
  file: DumpFile;
  records: readonly number[];
}

/** Like `listed`, but sorted. Only positions are sorted, and a record is read when its turn comes, so memory use stays small. */
async function* sortedLists(
  dump: Dump,
  asked: ListRequest,
  order: SortOrder,
  limit: number,
  needs: 'details' | null,
): AsyncGenerator<FileList> {
  const rows = new FirstOf<Place & { value: SortValue }>(limit, (a, b) =>
    compareValues(a.value, b.value, order.descending),
  );
  let [count, hasValue] = [0, false];
  const add = (file: DumpFile, record: number, value: SortValue): void => {
    count++;
    hasValue ||= value !== null;
    rows.add({ file, record, value });
  };
  for await (const file of indexedFiles(dump)) {
    const asks = fieldCost(order.field) === 'facts' ? 'facts' : null;
    const readValue = (record: number) => sortValue(order, Subject.of({ file, record }, asked.kept));
    if (needs !== null)
      for await (const records of passingWithDetails(dump, file, asked.filter, asked.kept))
        for (const record of records) add(file, record, readValue(record));
    else if (asked.filter === null && asks === null) {
      // Waiting for each row costs more than the row, and so does finding again which column has the value.
      const known = knownValue(file, order.field);
      for (let record = 0; record < file.count; record++) {
        const value = known(record);
        add(file, record, value === IN_RECORD ? readValue(record) : sortable(value));
      }
    } else
      for await (const record of passing(dump, file, asked.filter, asked.kept, asks))
        add(file, record, readValue(record));
  }
  if (count > 0 && !hasValue) say(`--sort: no rollout here has ${order.key}; they keep their order on disk`);
  for (const { file, record } of rows.sorted()) yield { file, records: [record] };
}

/** Threads that read all records take longer to start than a few take to read. */
function isLarge(dump: Dump): boolean {
  let bytes = 0;
  for (const { path } of dump.files) {
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > SMALL_DUMP) return true;
  }
  return false;
}

const SMALL_DUMP = 4 << 20;

/** A copy this large in the temporary folder deserves a message. */
const LARGE_COPY = 256 << 20;

const fileCost = (file: DumpFile): string =>
  `its records were copied once to the temporary folder, ${sizeText(file.copiedBytes)} until this ends (${file.container} has no lines to read in place)`;
