import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { Command } from 'commander';
import { readFactRows } from '../../analysis/facts/fact-rows.ts';
import { passing } from '../../analysis/facts/passing.ts';
import { arePromptsAlike, Groups } from '../../analysis/groups.ts';
import { fieldCost } from '../../analysis/query/fields.ts';
import type { KeptLookup } from '../../analysis/query/kept.ts';
import type { Query } from '../../analysis/query/query.ts';
import { compareValues, type SortOrder, type SortValue, sortValue } from '../../analysis/query/sort.ts';
import { Subject } from '../../analysis/query/subject.ts';
import { Dump, type Place } from '../../core/dump/dump.ts';
import type { DumpFile, DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { dumpOfStream } from '../../core/dump/stream-file.ts';
import { isWorthSaying, type UnknownRecords, unknownText } from '../../core/dump/unknown-records.ts';
import { failedText, Unmade } from '../../core/dump/unmade.ts';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonValue } from '../../core/json/value.ts';
import { type GroupKey, groupKeyOf, groupKeysLike } from '../../core/rollout/group-key.ts';
import type { Rollout } from '../../core/rollout/rollout.ts';
import { shownPath } from '../../core/text/shown-path.ts';
import { labelWords } from '../present/label-text.ts';
import { listColumns, listHeader, listLine } from '../present/list-text.ts';
import { sizeText } from '../present/quantities.ts';
import { countOf } from './count.ts';
import { dumpOptions, notifyOption, pollOption, type ReadingFlags, withReading } from './dump-options.ts';
import { followPaths, followStream } from './follow.ts';
import { keptOf } from './kept-of.ts';
import { ANSWER_IS_NO, DONE, hasColour, print, printStyled, run, say, USAGE } from './output.ts';
import { conditionsOf, filterOf, sortOf } from './query-options.ts';
import { csvHead, csvLine } from './row-csv.ts';
import { rowJson } from './row-json.ts';
import { labelJson, rowLabels } from './row-labels.ts';
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
      .description('list rollouts, one a line')
      .argument('<paths...>', 'directories, files or patterns of dumps, or - for a stream on stdin')
      .option('--json', 'one JSON object a line')
      .option('--under-way', 'instead of rollouts those that are not finished, as their writers tell')
      .option('--follow', 'go on with what comes; waits for a path that does not exist yet')
      .option('--events', 'with --follow: say of each row whether it was added, replaced or removed')
      .addOption(pollOption())
      .addOption(notifyOption())
      .option(
        '--filter <expr>',
        "only rollouts that match it: 'score < 0.5 && output ~ /sorry/i || finding:tool_error'",
      )
      .option('--journal <dir>', 'where the results and labels are kept that `again` and `label` in a filter ask for')
      .option('--sort <key>', 'by score, step, turns, … or a key of the records; score:desc for the highest first')
      .option('--by [key]', 'instead of rollouts a row a step, or a value of another key, as `stats` prints it')
      .option('--csv', 'comma-separated values, with a head; each fact a column')
      .option('--limit <n>', 'this many rows at most', countOf)
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
    return lsUnderWay(paths, options.json === true, await dumpOptions(options));
  }
  const filter = filterOf(options.filter);
  const order = sortOf(options.sort);
  const notify = conditionsOf(options.notify);
  const kept = await keptOf(filter, paths, options.journal);
  const stream = streamOf(paths);
  if (options.csv && (stream !== null || options.follow))
    throw new UsageError('--csv tells of what is there: it goes neither with --follow nor with a stream');
  if (notify.length > 0 && stream === null && !options.follow)
    throw new UsageError('--notify tells of steps as they become complete: it goes with --follow');
  if (order !== null && (stream !== null || options.follow))
    throw new UsageError('--sort needs all rollouts at once: it goes neither with --follow nor with a stream');
  const following = {
    ...options,
    notify,
    accepts: (row: DumpRecord) => filter?.accepts(Subject.read(row, kept)) ?? true,
  };
  if (stream !== null)
    return ended(
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
  // A rollout's group measures need all the other rollouts.
  if (filter?.asksGroups === true || order?.field.type === 'group') await readFactRows(dump, null);
  const asked = { filter, kept };
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const labels = await rowLabels(paths[0]!, options.journal);
  const columns = listColumns(dump.files.map((file) => shownPath(file.path)));
  const groups = new FileGroups();
  const unknown = new Map<DumpFile, UnknownRecords>();
  let printed = 0;
  let rollouts = 0;
  if (options.csv) await print(csvHead());
  else if (!options.json) await print(`${listHeader(columns)}\n`);
  try {
    for await (const { row, group } of order === null
      ? listed(dump, asked, options, groups)
      : sorted(dump, asked, order, options, groups)) {
      if (printed >= limit) break;
      if (options.csv) await print(csvLine(rowJson(row, group)));
      else if (options.json)
        await print(`${printJson({ ...rowJson(row, group), labels: labels.of(row.raw).map(labelJson) })}\n`);
      else await printStyled(`${listLine(row, columns, hasColour(), labelWords(labels.of(row.raw)))}\n`);
      printed++;
      if (row.rollout !== null) rollouts++;
      if (row.isUnknown && isJsonObject(row.json)) {
        const known = unknown.get(row.file);
        if (known === undefined) unknown.set(row.file, { count: 1, first: row.json });
        else known.count++;
      }
    }
    await dump.whenKept();
  } finally {
    dump.close();
  }
  for (const { leftOut, path } of dump.files)
    if (leftOut !== null && isWorthSaying(leftOut)) say(`${path}: ${unknownText(leftOut)}`);
  for (const [{ path }, records] of unknown) say(`${path}: ${unknownText(records)}`);
  if (groups.better !== null)
    say(`rollouts of one ${groups.better} have different prompts: --group-by ${groups.better} puts them together`);
  if (dump.hasRefused || dump.files.every((file) => file.state === 'failed')) return USAGE;
  if (printed > 0 && rollouts === 0 && printed < limit && filter === null) {
    say(
      'no rollout in it: each record is one that no format knows; --format, --map or formats: in config.yaml may say what it is',
    );
    return ANSWER_IS_NO;
  }
  return ended(printed, filter);
}

function ended(rows: number, filter: Query | null): number {
  if (rows === 0) say(filter === null ? 'no rollouts' : 'nothing matches --filter');
  return rows === 0 ? ANSWER_IS_NO : DONE;
}

/** stdin, or the pipe that a shell makes of `<(…)`; null for paths with random access. */
function streamOf(paths: readonly string[]): Readable | null {
  const [path] = paths;
  if (paths.includes('-') && paths.length > 1) throw new UsageError('- is the stream on stdin and stands alone');
  if (paths.length !== 1 || path === undefined) return null;
  if (path === '-') return process.stdin;
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() ? createReadStream(path) : null;
}

interface Asked {
  filter: Query | null;
  kept: KeptLookup | undefined;
}

interface Listed {
  row: DumpRecord;
  group: string | null;
}

/** The files of a dump, each once it is indexed. @param most stops indexing a file whose records are copied after this many */
async function* indexedFiles(dump: Dump, most = Number.POSITIVE_INFINITY): AsyncGenerator<DumpFile> {
  for (const file of dump.files) {
    await file.buildIndex(() => file.copiedBytes === 0 || file.count < most);
    if (file.error !== null) say(`${file.path}: ${file.error}`);
    if (file.copiedBytes > LARGE_COPY) say(`${file.path}: ${costOf(file)}`);
    yield file;
  }
}

async function* listed(
  dump: Dump,
  asked: Asked,
  { json, csv, limit }: LsOptions,
  groups: FileGroups,
): AsyncGenerator<Listed> {
  for await (const file of indexedFiles(dump, asked.filter === null ? limit : undefined)) {
    for await (const record of passing(dump, file, asked.filter, asked.kept)) {
      const row = file.read(record);
      yield { row, group: json === true || csv === true ? groups.of(file, row) : null };
    }
  }
}

/** Like `listed`, but sorted. Only positions are sorted, and a record is read when its turn comes, so memory use stays small. */
async function* sorted(
  dump: Dump,
  asked: Asked,
  order: SortOrder,
  { json, csv }: LsOptions,
  groups: FileGroups,
): AsyncGenerator<Listed> {
  const sortable: (Place & { value: SortValue })[] = [];
  for await (const file of indexedFiles(dump)) {
    const needsFacts = fieldCost(order.field) === 'facts';
    for await (const record of passing(dump, file, asked.filter, asked.kept, needsFacts))
      sortable.push({ file, record, value: sortValue(order, Subject.of({ file, record }, asked.kept)) });
  }
  if (sortable.length > 0 && sortable.every(({ value }) => value === null))
    say(`--sort: no rollout here has ${order.key}; they keep their order on disk`);

  // The sort is stable: equal values keep the order of the files.
  sortable.sort((a, b) => compareValues(a.value, b.value, order.descending));
  for (const { file, record } of sortable) {
    const row = file.read(record);
    yield { row, group: json === true || csv === true ? groups.of(file, row) : null };
  }
}

/** Group keys of the rows of several files. */
class FileGroups {
  readonly #reasons = new Map<DumpFile, string | null>();
  readonly #seen = new Set<string>();
  readonly #values = new Map<string, Set<JsonValue>>();
  #rows = 0;

  /** null for a bad record, and if all prompts of the file are equal, because then a prompt identifies no group. */
  of(file: DumpFile, row: DumpRecord): string | null {
    const key = keyOf(row);
    if (key === null) return null;
    this.#note(key, row.rollout!);
    let reason = this.#reasons.get(file);
    if (reason === undefined) {
      reason = reasonOfNoGroups(file);
      this.#reasons.set(file, reason);
    }
    return reason !== null && key.from === 'prompt' ? null : key.key;
  }

  #note(key: GroupKey, rollout: Rollout): void {
    if (this.#rows++ >= MOST_NOTED) return;
    this.#seen.add(key.key);
    for (const name of groupKeysLike(rollout)) {
      const values = this.#values.get(name) ?? new Set();
      this.#values.set(name, values.add(rollout.extras[name] ?? null));
    }
  }

  /** A key of the records that makes groups of equal size if the prompts make more; null if absent. */
  get better(): string | null {
    const rows = Math.min(this.#rows, MOST_NOTED);
    for (const [name, { size }] of this.#values)
      if (size > 1 && size < this.#seen.size && rows % size === 0 && rows > size) return name;
    return null;
  }
}

const keyOf = (row: DumpRecord): GroupKey | null => (row.rollout === null ? null : groupKeyOf(row.rollout));

/** Reads a file from its start until two prompts differ. */
function reasonOfNoGroups(file: DumpFile): string | null {
  const head: (GroupKey | null)[] = [];
  for (let record = 0; record < file.count; record++) {
    head.push(keyOf(file.read(record)));
    const known = head.filter((key) => key?.from === 'prompt');
    if (known.length > 1 && !arePromptsAlike(known)) break;
  }
  return new Groups(head).reason;
}

/** Rows searched for a key that makes groups. */
const MOST_NOTED = 10_000;

/** A copy this large in the temporary folder deserves a message. */
const LARGE_COPY = 256 << 20;

const costOf = (file: DumpFile): string =>
  `its records were copied once to the temporary folder, ${sizeText(file.copiedBytes)} until this ends (${file.container} has no lines to read in place)`;
