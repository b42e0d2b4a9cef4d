import { Command } from 'commander';
import { groupOfRecord } from '../analysis/group-of-record.ts';
import { Dump } from '../dump/dump.ts';
import type { DumpRecord } from '../dump/dump-file.ts';
import { type Locator, parseLocator } from '../dump/locator.ts';
import { UsageError } from '../dump/paths.ts';
import { printJson } from '../json/print.ts';
import { markdownText, readableText } from '../present/readable.ts';
import { groupAdvantages } from '../rollout/advantage.ts';
import { dumpOptions, validationOption } from './dump-options.ts';
import { DONE, print, run, say } from './output.ts';
import { recordJson } from './row-json.ts';

interface ShowOptions {
  plain?: boolean;
  json?: boolean;
  markdown?: boolean;
  validation?: string[];
}

export const showCommand = (): Command =>
  new Command('show')
    .description('print rollouts whole')
    .argument('<locators...>', 'FILE:LINE, or FILE:LINE#tN for one turn')
    .option('--plain', 'the readable version (default)')
    .option('--json', 'one JSON object a rollout, with turns, spans, loss mask and rewards')
    .option('--markdown', 'a transcript to paste into an issue')
    .addOption(validationOption())
    .action((locators: string[], options: ShowOptions) => run(() => show(locators, options)));

async function show(locators: readonly string[], options: ShowOptions): Promise<number> {
  const places = locators.map(parseLocator);
  const dumps = new Map<string, Dump>();
  try {
    for (const [i, place] of places.entries()) {
      let dump = dumps.get(place.path);
      if (dump === undefined) {
        dump = Dump.open([place.path], dumpOptions(options));
        dumps.set(place.path, dump);
      }
      const row = await findRow(dump, place);
      if (options.json) {
        await print(`${printJson(jsonOf(row))}\n`);
        continue;
      }
      const heading = places.length > 1 && !options.markdown ? `${i > 0 ? '\n' : ''}==> ${locators[i]} <==\n\n` : '';
      await print(heading + (options.markdown ? markdownText(row, place.turn) : readableText(row, place.turn)));
    }
  } finally {
    for (const dump of dumps.values()) dump.close();
  }
  return DONE;
}

/** The record that a locator names. @throws UsageError that says what there is instead */
export async function findRow(dump: Dump, { path, line, turn }: Locator): Promise<DumpRecord> {
  const [file] = dump.files;
  if (file === undefined || file.path !== path)
    throw new UsageError(`${path}: a directory; name a file in it, such as ${file?.path ?? path}:1`);
  if (file.state === 'waiting') await file.buildIndex(() => true);
  if (file.error !== null) {
    if (file.count === 0) throw new UsageError(`${path}: ${file.error}`);
    say(`${path}: ${file.error}`);
  }
  const record = file.index.recordAtLine(line);
  if (record === -1) {
    const last = file.count === 0 ? 0 : file.index.line(file.count - 1);
    throw new UsageError(
      `${path}:${line}: ${line > last || line === 0 ? `the file has ${last} lines` : 'a blank line'}`,
    );
  }
  const row = file.read(record);
  const turns = row.rollout?.turns.length ?? 0;
  if (turn !== null && turn >= turns)
    throw new UsageError(`${path}:${line}#t${turn}: this rollout has ${turns} turns, t0 to t${turns - 1}`);
  return row;
}

/** The advantage is relative to the other rollouts of the group, which are looked up in the file. */
function jsonOf(row: DumpRecord) {
  if (row.rollout === null) return recordJson(row, null, null);
  const { key, members } = groupOfRecord(row);
  const advantages = groupAdvantages(members.map(({ score }) => score ?? Number.NaN));
  return recordJson(row, key, advantages[members.findIndex(({ record }) => record === row.record)] ?? null);
}
