import { existsSync, statSync } from 'node:fs';
import { layWhole } from '../../analysis/facts/fact-rows.ts';
import { passing } from '../../analysis/facts/passing.ts';
import type { KeptLookup } from '../../analysis/query/kept.ts';
import type { Query } from '../../analysis/query/query.ts';
import { Subject } from '../../analysis/query/subject.ts';
import { Dump, type DumpOptions } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { parseLocator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { findRow, type LineRange } from './find-row.ts';
import { say } from './output.ts';

export interface SelectedRow {
  row: DumpRecord;
  /** The turn that a locator names. */
  turn: number | null;
}

export interface Wants {
  /** The caller stops after so many. */
  most?: number;
  /** It asks nothing of the others of their files, such as their group. */
  isAlone?: boolean;
}

/**
 * The rollouts that locators and paths name, in argument order, read one at a time and filtered.
 * @param missing takes locators whose record is not there
 * @param chosen says by its locator whether a record of a path is read
 * @param wants what the caller does with them
 * @throws UsageError
 */
export async function* selectRows(
  args: readonly string[],
  options: DumpOptions,
  filter: Query | null = null,
  kept?: KeptLookup,
  missing?: (locator: string) => void,
  chosen?: (locator: string) => boolean,
  wants: Wants = {},
): AsyncGenerator<SelectedRow> {
  // Many locators may name one file.
  const dumps = new Map<string, Dump>();
  const ranges = wants.isAlone === true && filter === null ? namedLines(args) : new Map<string, LineRange>();
  try {
    for (const arg of args) {
      if (isLocator(arg)) yield* one(arg, dumps, options, ranges, filter, kept, missing);
      else yield* all(arg, options, filter, kept, chosen, wants.most);
    }
  } finally {
    for (const dump of dumps.values()) dump.close();
  }
}

/** An existing path that contains a colon and a number is a path. */
export const isLocator = (arg: string): boolean =>
  !existsSync(arg) && (/:\d+(?:\.\d+)?(?:#t\d+)?$/.test(arg) || /#t\d+$/.test(arg) || isMember(arg));

/** The lines that words name of each file. */
function namedLines(args: readonly string[]): Map<string, LineRange> {
  const ranges = new Map<string, LineRange>();
  for (const arg of args) {
    const [, path, text] = /^(.+):(\d+)(?:\.\d+)?(?:#t\d+)?$/s.exec(arg) ?? [];
    if (path === undefined) continue;
    const line = Number(text);
    const { first, last } = ranges.get(path) ?? { first: line, last: line };
    ranges.set(path, { first: Math.min(first, line), last: Math.max(last, line) });
  }
  return ranges;
}

/** A path to a member of an archive: one of its components is a file. */
const isMember = (arg: string): boolean =>
  arg.split('/').some((_, at, parts) => at > 0 && isFile(parts.slice(0, at).join('/')));

const isFile = (path: string): boolean => path !== '' && (statSync(path, { throwIfNoEntry: false })?.isFile() ?? false);

/** The path part of an argument. */
export const pathOfArgument = (arg: string): string => (isLocator(arg) ? parseLocator(arg).path : arg);

async function* one(
  arg: string,
  dumps: Map<string, Dump>,
  options: DumpOptions,
  ranges: ReadonlyMap<string, LineRange>,
  filter: Query | null,
  kept?: KeptLookup,
  missing?: (locator: string) => void,
): AsyncGenerator<SelectedRow> {
  const place = parseLocator(arg);
  let row: DumpRecord;
  try {
    const dump = dumps.get(place.path) ?? Dump.open([place.path], options);
    dumps.set(place.path, dump);
    await layWhole(dump, filter);
    row = await findRow(dump, place, place.line === null ? undefined : ranges.get(place.path));
  } catch (error) {
    if (missing === undefined || !(error instanceof UsageError)) throw error;
    return missing(arg);
  }
  if (filter === null || filter.accepts(Subject.read(row, kept))) yield { row, turn: place.turn };
}

async function* all(
  path: string,
  options: DumpOptions,
  filter: Query | null,
  kept?: KeptLookup,
  chosen: (locator: string) => boolean = () => true,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<SelectedRow> {
  const dump = Dump.open([path], options);
  for (const notice of dump.notices) say(notice);
  try {
    await layWhole(dump, filter);
    for (const file of dump.files) {
      await file.buildIndex(() => filter !== null || file.copiedBytes === 0 || file.count < most);
      if (file.error !== null) say(`${file.path}: ${file.error}`);
      for await (const record of passing(dump, file, filter, kept))
        if (chosen(file.locator(record))) yield { row: file.read(record), turn: null };
    }
    await dump.whenKept();
  } finally {
    dump.close();
  }
}
