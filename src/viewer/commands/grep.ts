import { Command } from 'commander';
import { layWhole } from '../../analysis/facts/fact-rows.ts';
import { accepter } from '../../analysis/facts/passing.ts';
import { type FoundTurn, hitsByTurn, hitsReport, onOneLine } from '../../analysis/report/hits.ts';
import { type SearchFor, searchDump, type TextHit } from '../../analysis/search/search-thread.ts';
import { matcher } from '../../analysis/text-search.ts';
import { Dump } from '../../core/dump/dump.ts';
import type { DumpFile } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { printJson } from '../../core/json/print.ts';
import { plural } from '../../core/text/numbers.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { countOf } from './count.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { keptOf } from './kept-of.ts';
import { ANSWER_IS_NO, DONE, hasColour, print, printStyled, run, say, USAGE } from './output.ts';
import { printReport } from './print-report.ts';
import { filterOf } from './query-options.ts';
import { tokenizerOption } from './tokenizer-option.ts';

interface GrepOptions extends ReadingFlags {
  json?: boolean;
  csv?: boolean;
  html?: string;
  role?: string[];
  in?: string;
  filter?: string;
  journal?: string;
  limit?: number;
  tokenizer?: string;
  context: number;
  count?: boolean;
}

export const grepCommand = (): Command =>
  withReading(
    new Command('grep')
      .description('search the turns of rollouts, and print each hit with its locator and turn')
      .argument(
        '<pattern>',
        'an RE2 pattern, case-sensitive only if it has a capital letter; \\V at the start makes it literal',
      )
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--role <role...>', 'only turns of these roles: system, user, assistant, tool …')
      .option('--in <field>', 'search a field of the records instead of their turns: gts, status, a key of the extras')
      .option('--filter <expr>', 'only rollouts that match it')
      .option('--journal <dir>', 'where to find the labels that a filter names')
      .option('--context <n>', 'characters around a hit', countOf, 40)
      .option('--count', 'print only the number of hits in each rollout')
      .option('--limit <n>', 'this many lines at most', countOf)
      .option('--json', 'one JSON object per hit')
      .option('--csv', 'comma-separated values with a header line, one line per turn')
      .option('--html <file>', 'a self-contained page that runs nothing from the data; - for stdout')
      .addOption(tokenizerOption()),
  ).action((pattern: string, paths: string[], options: GrepOptions) => run(() => grep(pattern, paths, options)));

/** Prints the hits in dump order; without any, the exit status is 1. */
async function grep(pattern: string, paths: readonly string[], options: GrepOptions): Promise<number> {
  checkPattern(pattern);
  const filter = filterOf(options.filter);
  const dump = Dump.open(paths, await dumpOptions(options, options.tokenizer));
  for (const notice of dump.notices) say(notice);
  const most = options.limit ?? Number.POSITIVE_INFINITY;
  const isTable = options.csv === true || options.html !== undefined;
  const wanted: SearchFor = {
    pattern,
    roles: options.role ?? null,
    field: options.in ?? null,
    context: options.context,
    most: options.count === true ? 0 : isTable ? Number.POSITIVE_INFINITY : most,
  };
  const kept = await keptOf(filter, paths, options.journal);
  const reported = new Set<DumpFile>();
  if (isTable && options.count === true)
    throw new UsageError('--csv and --html have a column with the count; leave out --count');
  const turns: FoundTurn[] = [];
  const table = { turns, hits: 0, rollouts: 0 };
  let printed = 0;
  try {
    await layWhole(dump, filter);
    for await (const { file, from, count, found, isLost } of searchDump(dump, wanted)) {
      if (!reported.has(file) && file.error !== null) say(`${file.path}: ${file.error}`);
      reported.add(file);
      if (isLost) say(`${file.locator(from)} and ${count - 1} behind it take more memory than there is to search`);
      if (found.length === 0) continue;
      const accepts = filter === null ? () => true : accepter(filter, file, kept);
      for (const { record, count: hitCount, hits } of found) {
        if (!accepts(record)) continue;
        if (isTable) {
          table.turns.push(...hitsByTurn({ file, record }, hitCount, hits));
          table.hits += hitCount;
          table.rollouts++;
          continue;
        }
        for (const line of hitLines(file.locator(record), hitCount, hits, options)) {
          if (printed++ >= most) return DONE;
          await (options.json ? print : printStyled)(`${line}\n`);
        }
      }
    }
    for (const file of dump.files) if (!reported.has(file) && file.error !== null) say(`${file.path}: ${file.error}`);
    if (isTable && table.hits > 0) {
      const more = turns.splice(most).length;
      const report = hitsReport(wanted, table);
      await printReport(
        { ...report, leftOut: more === 0 ? [] : [`${plural(more, 'turn')} more than --limit`] },
        options,
      );
      return DONE;
    }
  } finally {
    dump.close();
  }
  if (printed > 0) return DONE;
  const isUnread = dump.hasRefused || dump.files.every(({ state }) => state === 'failed');
  if (!isUnread) say('no hit');
  return isUnread ? USAGE : ANSWER_IS_NO;
}

function checkPattern(pattern: string): void {
  if (pattern === '') throw new UsageError('the pattern is empty: name what to search for');
  try {
    matcher(pattern);
  } catch (error) {
    throw new UsageError(errorMessage(error));
  }
}

function* hitLines(
  locator: string,
  total: number,
  hits: readonly TextHit[],
  { json, count }: GrepOptions,
): Generator<string> {
  if (count === true) {
    yield json === true ? printJson({ locator, hits: total }) : `${sanitiseLine(locator)}: ${total}`;
    return;
  }
  for (const { turn, role, start, end, text, before, after, goesOn } of hits) {
    const place = turn === null ? locator : `${locator}#t${turn}`;
    if (json === true) {
      yield printJson({ locator: place, turn, role, start, end, text, before, after });
      continue;
    }
    const [left, hit, right] = [before, text, after].map((part) => sanitiseLine(onOneLine(part)));
    const shown = hasColour() ? `\x1b[1m${hit}\x1b[22m` : hit;
    const who = role === null ? '' : `${sanitiseLine(role)}: `;
    yield `${sanitiseLine(place)}: ${who}${goesOn[0] ? '…' : ''}${left}${shown}${right}${goesOn[1] ? '…' : ''}`;
  }
}
