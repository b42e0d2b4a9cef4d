import { Command } from 'commander';
import { Subject } from '../analysis/query/subject.ts';
import { type Matcher, matcher } from '../analysis/text-search.ts';
import { Dump } from '../dump/dump.ts';
import type { DumpRecord } from '../dump/dump-file.ts';
import { UsageError } from '../dump/paths.ts';
import { printJson } from '../json/print.ts';
import type { Turn } from '../rollout/rollout.ts';
import { sanitiseLine } from '../text/sanitise.ts';
import { countOf } from './count.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { ANSWER_IS_NO, DONE, hasColour, print, run, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';

interface GrepOptions extends ReadingFlags {
  json?: boolean;
  role?: string[];
  filter?: string;
  limit?: number;
  context: number;
  count?: boolean;
}

export const grepCommand = (): Command =>
  withReading(
    new Command('grep')
      .description('search the turns of rollouts; a hit is named by its locator and turn')
      .argument('<pattern>', 'RE2; a capital letter in it makes case count; \\V before it takes it word for word')
      .argument('<paths...>', 'directories, files or patterns of dumps')
      .option('--role <role...>', 'only turns of these roles: system, user, assistant, tool …')
      .option('--filter <expr>', 'only rollouts that it holds for')
      .option('--context <n>', 'characters beside a hit', countOf, 40)
      .option('--count', 'only how many hits each rollout has')
      .option('--limit <n>', 'at most so many lines', countOf)
      .option('--json', 'one JSON object a line'),
  ).action((pattern: string, paths: string[], options: GrepOptions) => run(() => grep(pattern, paths, options)));

interface Hit {
  turn: Turn;
  /** UTF-16 offsets into the turn's text. */
  start: number;
  end: number;
}

/** Prints the hits, in the order of the dump; without any the answer is no. */
async function grep(pattern: string, paths: readonly string[], options: GrepOptions): Promise<number> {
  const wanted = matcherOf(pattern);
  const filter = filterOf(options.filter);
  const dump = Dump.open(paths, await dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  let printed = 0;
  try {
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      if (file.error !== null) say(`${file.path}: ${file.error}`);
      for (let record = 0; record < file.count; record++) {
        const row = file.read(record);
        if (filter !== null && !filter.accepts(Subject.read(row))) continue;
        for (const line of linesOf(row, hitsOf(row, wanted, options.role), options)) {
          if (printed++ >= (options.limit ?? Number.POSITIVE_INFINITY)) return DONE;
          await print(`${line}\n`);
        }
      }
    }
  } finally {
    dump.close();
  }
  if (printed > 0) return DONE;
  const isUnread = dump.hasRefused || dump.files.every(({ state }) => state === 'failed');
  if (!isUnread) say('no hit');
  return isUnread ? USAGE : ANSWER_IS_NO;
}

function matcherOf(pattern: string): Matcher {
  if (pattern === '') throw new UsageError('the pattern is empty: name what to search for');
  try {
    return matcher(pattern);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function hitsOf({ rollout }: DumpRecord, wanted: Matcher, roles: readonly string[] | undefined): Hit[] {
  const hits: Hit[] = [];
  for (const turn of rollout?.turns ?? []) {
    if (roles !== undefined && !roles.includes(turn.role)) continue;
    wanted.find(turn.text, (start, end) => {
      hits.push({ turn, start, end });
      return true;
    });
  }
  return hits;
}

function* linesOf(row: DumpRecord, hits: readonly Hit[], { json, count, context }: GrepOptions): Generator<string> {
  if (hits.length === 0) return;
  if (count === true) {
    yield json === true
      ? printJson({ locator: row.locator, hits: hits.length })
      : `${sanitiseLine(row.locator)}: ${hits.length}`;
    return;
  }
  for (const { turn, start, end } of hits) {
    const { index, role, text } = turn;
    const [from, to] = [Math.max(0, start - context), Math.min(text.length, end + context)];
    if (json === true) {
      yield printJson({
        locator: `${row.locator}#t${index}`,
        turn: index,
        role,
        start,
        end,
        text: text.slice(start, end),
        before: text.slice(from, start),
        after: text.slice(end, to),
      });
      continue;
    }
    const [before, hit, after] = [text.slice(from, start), text.slice(start, end), text.slice(end, to)].map(oneLine);
    const shown = hasColour() ? `\x1b[1m${hit}\x1b[22m` : hit;
    yield `${sanitiseLine(row.locator)}#t${index}: ${sanitiseLine(role)}: ${from > 0 ? '…' : ''}${before}${shown}${after}${to < text.length ? '…' : ''}`;
  }
}

const oneLine = (text: string): string => sanitiseLine(text.replace(/\s*\n\s*/g, ' ⏎ '));
