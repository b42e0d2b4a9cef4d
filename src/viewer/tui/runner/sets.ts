import { resolve } from 'node:path';
import manifest from '../../../../package.json' with { type: 'json' };
import type { DumpFile } from '../../../core/dump/dump-file.ts';
import { parseLocator } from '../../../core/dump/locator.ts';
import { hashOf } from '../../../core/json/fingerprint.ts';
import { plural } from '../../../core/text/numbers.ts';
import { CuratedSet, type SetEntry, type SetPlace, setNames, setPlace } from '../../../replay/sets/curated-set.ts';

import type { SetMember } from '../state/sets.ts';
import type { JobOf, RunnerContext } from './context.ts';

const placeOf = ({ options }: RunnerContext): SetPlace => setPlace(options.env, options.journal);

/** Reads every set, and compares the rollouts that the open dump holds. */
export function reportSets(runner: RunnerContext): void {
  const place = placeOf(runner);
  const files = new Map(runner.options.dump.files.map((file) => [resolve(file.path), file]));
  const sets = new Map<string, SetMember[]>();
  for (const name of setNames(place)) {
    const members = [...new CuratedSet(name, place).members().values()];
    sets.set(
      name,
      members.map((entry) => memberOf(runner, entry, files)),
    );
  }
  runner.options.report({ type: 'sets-known', sets });
}

function memberOf(runner: RunnerContext, entry: SetEntry, files: ReadonlyMap<string, DumpFile>): SetMember {
  try {
    const locator = parseLocator(entry.locator);
    const file = files.get(resolve(locator.path));
    if (file === undefined) return { entry, place: null, now: 'elsewhere' };
    const record = file.recordAt(locator);
    if (record < 0) return { entry, place: null, now: 'gone' };
    const place = { file, record };
    return { entry, place, now: hashOf(runner.row(place).raw) === entry.source ? 'same' : 'changed' };
  } catch {
    return { entry, place: null, now: 'elsewhere' };
  }
}

/** Adds rollouts to a set; they are on disk before anything else happens. */
export function addToSet(runner: RunnerContext, { rows, name, reason, filter, by }: JobOf<'set-add'>): void {
  const set = new CuratedSet(name, placeOf(runner));
  const before = set.members();
  const common = {
    action: 'add',
    reason,
    filter,
    by,
    at: new Date().toISOString(),
    version: manifest.version,
  } as const;
  const entries: SetEntry[] = [];
  for (let index = 0; index < rows.length; index++) {
    const place = rows.at(index);
    if (place === null) continue;
    const { file, record } = place;
    const source = hashOf(runner.row(place).raw);
    const locator = absoluteLocator(file, record);
    if (before.get(locator)?.source !== source) entries.push({ ...common, locator, source });
  }
  if (entries.length > 0) set.append(entries);
  const total = set.members().size;
  runner.options.say(`${name}: ${entries.length} added, ${plural(total, 'rollout')} in all`, 'info');
  reportSets(runner);
}

/** Takes a rollout out of a set; its file keeps that it was there. */
export function dropFromSet(runner: RunnerContext, { name, locator, by }: JobOf<'set-drop'>): void {
  const set = new CuratedSet(name, placeOf(runner));
  const member = set.members().get(locator);
  if (member !== undefined)
    set.append([{ ...member, action: 'drop', by, at: new Date().toISOString(), version: manifest.version }]);
  reportSets(runner);
}

/** A set must keep its meaning whatever directory a program starts in. */
const absoluteLocator = (file: DumpFile, record: number): string => {
  const locator = file.locator(record);
  return locator.startsWith(file.path) ? resolve(file.path) + locator.slice(file.path.length) : locator;
};
