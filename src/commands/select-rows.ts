import { existsSync } from 'node:fs';
import { Dump, type DumpOptions } from '../dump/dump.ts';
import type { DumpRecord } from '../dump/dump-file.ts';
import { parseLocator } from '../dump/locator.ts';
import { say } from './output.ts';
import { findRow } from './show.ts';

export interface SelectedRow {
  row: DumpRecord;
  /** The turn that a locator names. */
  turn: number | null;
}

/** The rollouts that locators and paths name, in the order of the arguments, read one after another. @throws UsageError */
export async function* selectRows(args: readonly string[], options: DumpOptions): AsyncGenerator<SelectedRow> {
  for (const arg of args) {
    if (isLocator(arg)) yield* one(arg, options);
    else yield* all(arg, options);
  }
}

/** A path that holds a colon and a number is a path where it is there. */
export const isLocator = (arg: string): boolean => /:\d+(?:#t\d+)?$/.test(arg) && !existsSync(arg);

/** The path part of an argument. */
export const pathOf = (arg: string): string => (isLocator(arg) ? parseLocator(arg).path : arg);

async function* one(arg: string, options: DumpOptions): AsyncGenerator<SelectedRow> {
  const place = parseLocator(arg);
  const dump = Dump.open([place.path], options);
  try {
    yield { row: await findRow(dump, place), turn: place.turn };
  } finally {
    dump.close();
  }
}

async function* all(path: string, options: DumpOptions): AsyncGenerator<SelectedRow> {
  const dump = Dump.open([path], options);
  for (const notice of dump.notices) say(notice);
  try {
    for (const file of dump.files) {
      await file.buildIndex(() => true);
      if (file.error !== null) say(`${file.path}: ${file.error}`);
      for (let record = 0; record < file.count; record++) yield { row: file.read(record), turn: null };
    }
  } finally {
    dump.close();
  }
}
