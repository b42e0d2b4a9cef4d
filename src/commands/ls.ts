import { Command, InvalidArgumentError } from 'commander';
import { arePromptsAlike, Groups } from '../analysis/groups.ts';
import { Dump } from '../dump/dump.ts';
import type { DumpFile, DumpRecord } from '../dump/dump-file.ts';
import { dumpOfStream } from '../dump/stream-file.ts';
import { listColumns, listHeader, listLine } from '../present/list-text.ts';
import { groupKeyOf } from '../rollout/group-key.ts';
import { printJson } from '../rollout/json-print.ts';
import { dumpOptions, pollOption, validationOption } from './dump-options.ts';
import { followPaths, followStream } from './follow.ts';
import { ANSWER_IS_NO, DONE, hasColour, print, run, say } from './output.ts';
import { rowJson } from './row-json.ts';

export interface LsOptions {
  json?: boolean;
  limit?: number;
  follow?: boolean;
  events?: boolean;
  poll?: number;
  validation?: string[];
}

export const lsCommand = (): Command =>
  new Command('ls')
    .description('list rollouts, one a line')
    .argument('<paths...>', 'directories, files or patterns of dumps, or - for a stream on stdin')
    .option('--json', 'one JSON object a line')
    .option('--follow', 'go on with what comes; waits for a path that does not exist yet')
    .option('--events', 'with --follow: say of each row whether it was added, replaced or removed')
    .addOption(pollOption())
    .option('--limit <n>', 'at most so many rows', countOf)
    .addOption(validationOption())
    .action((paths: string[], options: LsOptions) => run(() => ls(paths, options)));

export function countOf(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError(`"${text}" is no whole number from 0.`);
  return Number(text);
}

/** Prints the list; without rows the answer is no. */
export async function ls(paths: readonly string[], options: LsOptions): Promise<number> {
  if (paths.length === 1 && paths[0] === '-') {
    return (await followStream(dumpOfStream(process.stdin), options)) === 0 ? ANSWER_IS_NO : DONE;
  }
  if (options.follow)
    return followPaths(Dump.open(paths, { ...dumpOptions(options), waits: true, holdBack: 'always' }), options);
  const dump = Dump.open(paths, dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const columns = listColumns(dump.files.map((file) => file.path));
  let printed = 0;
  if (!options.json) await print(`${listHeader(columns)}\n`);
  try {
    for (const file of dump.files) {
      if (printed >= limit) break;
      await file.buildIndex(() => true);
      if (file.error !== null) say(`${file.path}: ${file.error}`);
      for (const { row, group } of rowsOf(file, options.json === true)) {
        if (printed >= limit) break;
        await print(options.json ? `${printJson(rowJson(row, group))}\n` : `${listLine(row, columns, hasColour())}\n`);
        printed++;
      }
    }
  } finally {
    dump.close();
  }
  return printed === 0 ? ANSWER_IS_NO : DONE;
}

/**
 * A file's rows with their groups. Whether prompts can tell groups apart is known at the first one that differs,
 * so rows are held back only as long as all prompts are equal.
 */
function* rowsOf(file: DumpFile, wantsGroups: boolean): Generator<{ row: DumpRecord; group: string | null }> {
  if (!wantsGroups) {
    for (let record = 0; record < file.count; record++) yield { row: file.read(record), group: null };
    return;
  }
  const keyOf = (row: DumpRecord) => (row.rollout === null ? null : groupKeyOf(row.rollout));
  const head: ReturnType<typeof keyOf>[] = [];
  let isDecided = false;
  for (let record = 0; record < file.count && !isDecided; record++) {
    head.push(keyOf(file.read(record)));
    isDecided =
      head.some((key) => key?.from === 'prompt') &&
      head.length > 1 &&
      !arePromptsAlike(head.filter((key) => key !== null));
  }
  const { reason } = new Groups(head);
  for (let record = 0; record < file.count; record++) {
    const row = file.read(record);
    const key = head[record] ?? keyOf(row);
    yield { row, group: key === null || (reason !== null && key.from === 'prompt') ? null : key.key };
  }
}
