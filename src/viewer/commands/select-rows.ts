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
import { findRow } from './find-row.ts';
import { say } from './output.ts';

export interface SelectedRow {
  row: DumpRecord;
  /** The turn that a locator names. */
  turn: number | null;
}

/**
 * The rollouts that locators and paths name, in argument order, read one at a time and filtered.
 * @param missing takes locators whose record is not there
 * @param chosen says by its locator whether a record of a path is read
 * @param most the caller stops after this many
 * @throws UsageError
 */
export async function* selectRows(
  args: readonly string[],
  options: DumpOptions,
  filter: Query | null = null,
  kept?: KeptLookup,
  missing?: (locator: string) => void,
  chosen?: (locator: string) => boolean,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<SelectedRow> {
  // Many locators may name one file.
  const dumps = new Map<string, Dump>();
  const farthest = farthestLines(args);
  try {
    for (const arg of args) {
      if (isLocator(arg)) yield* one(arg, dumps, options, farthest, filter, kept, missing);
      else yield* all(arg, options, filter, kept, chosen, most);
    }
  } finally {
    for (const dump of dumps.values()) dump.close();
  }
}

/** An existing path that contains a colon and a number is a path. */
export const isLocator = (arg: string): boolean =>
  !existsSync(arg) && (/:\d+(?:\.\d+)?(?:#t\d+)?$/.test(arg) || /#t\d+$/.test(arg) || isMember(arg));

/** The last line that a word names of each file. */
function farthestLines(args: readonly string[]): Map<string, number> {
  const lines = new Map<string, number>();
  for (const arg of args) {
    const [, path, line] = /^(.+):(\d+)(?:\.\d+)?(?:#t\d+)?$/s.exec(arg) ?? [];
    if (path !== undefined) lines.set(path, Math.max(lines.get(path) ?? 0, Number(line)));
  }
  return lines;
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
  farthest: ReadonlyMap<string, number>,
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
    row = await findRow(dump, place, place.line === null ? undefined : farthest.get(place.path));
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
