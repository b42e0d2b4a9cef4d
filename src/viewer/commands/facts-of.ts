import type { Command } from 'commander';
import { type FactRows, readFactRows } from '../../analysis/facts/fact-rows.ts';
import type { Rest } from '../../analysis/rest.ts';
import { Dump } from '../../core/dump/dump.ts';
import { dumpOptions, type ReadingFlags, withReading } from './dump-options.ts';
import { isRoundedStep, sayOfFiles, sayRoundedSteps } from './file-notes.ts';
import { keptOf } from './kept-of.ts';
import { ANSWER_IS_NO, say, USAGE } from './output.ts';
import { filterOf } from './query-options.ts';
import { showWork } from './work-line.ts';

export interface FactsFlags extends ReadingFlags {
  filter?: string;
  json?: boolean;
  csv?: boolean;
  html?: string;
  journal?: string;
}

/** The flags of a command that prints a table of many rollouts. */
export const withTable = (command: Command): Command =>
  withReading(
    command
      .option('--filter <expr>', 'only rollouts that match it')
      .option('--journal <dir>', 'where to find the labels that a filter names')
      .option('--json', 'one JSON object per line')
      .option('--csv', 'comma-separated values, with a header line')
      .option('--html <file>', 'a self-contained page that runs nothing from the data; - for stdout'),
  );

/** Shows how many of the texts are read whose words are compared. */
export const readingTexts: Rest = (done, total) => {
  if (done !== undefined && total !== undefined) showWork({ what: 'comparing words', done, total });
  return undefined;
};

/** Reads the facts of a dump; returns the exit status of an empty one. `use` may still read records. */
export async function withFacts(
  paths: readonly string[],
  options: FactsFlags,
  use: (facts: FactRows, dump: Dump) => Promise<number>,
): Promise<number> {
  const filter = filterOf(options.filter);
  const dump = Dump.open(paths, await dumpOptions(options));
  for (const notice of dump.notices) say(notice);
  try {
    const kept = await keptOf(filter, paths, options.journal);
    const facts = await readFactRows(dump, filter, undefined, kept);
    sayOfFiles(dump.files, facts.length === 0 && filter === null);
    if (facts.numbers('step').some(isRoundedStep)) sayRoundedSteps();
    if (facts.length > 0) return await use(facts, dump);
    if (dump.hasRefused || dump.files.every(({ state }) => state === 'failed')) return USAGE;
    say(filter === null ? 'no rollouts' : 'nothing matches --filter');
    return ANSWER_IS_NO;
  } finally {
    dump.close();
  }
}
