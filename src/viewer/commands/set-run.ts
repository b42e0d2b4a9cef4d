import { resolve } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { Dump } from '../../core/dump/dump.ts';
import { parseLocator } from '../../core/dump/locator.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { hashOf } from '../../core/json/fingerprint.ts';
import { printJson } from '../../core/json/print.ts';
import { reasonOf } from '../../core/text/problems.ts';
import { sanitiseLine } from '../../core/text/sanitise.ts';
import { keepEdit } from '../../replay/edit-branch.ts';
import { keptIn } from '../../replay/results.ts';
import { CuratedSet, isSetName, type SetEntry, setNames } from '../../replay/sets/curated-set.ts';
import { dumpOptions, type ReadingFlags } from './dump-options.ts';
import { editedTurn } from './edited-turn.ts';
import { readableSet, setsPlace } from './export-source.ts';
import { findRow } from './find-row.ts';
import { journalOf } from './journal-of.ts';
import { ANSWER_IS_NO, DONE, print, say } from './output.ts';
import { filterOf } from './query-options.ts';
import { raterOf } from './rater.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';

export interface SetFlags extends ReadingFlags {
  filter?: string;
  reason?: string;
  turn?: number;
  text?: string;
  rater?: string;
  journal?: string;
  json?: boolean;
}

/** @throws UsageError */
export async function runSet(
  name: string | undefined,
  action: string,
  args: readonly string[],
  flags: SetFlags,
): Promise<number> {
  if (name === undefined) return listSets(flags);
  if (!isSetName(name)) throw new UsageError(`"${name}" is not a name of a set; use letters, digits, - _ and .`);
  const set = readableSet(name, flags.journal);
  if (action === 'add' || action === 'drop') return change(set, action, args, flags);
  if (action === 'edit') return edit(set, args, flags);
  if (action === 'show') return showSet(set, flags);
  if (action === 'diff') return args.length === 0 ? diffDumps(set, flags) : diffSets(set, args, flags);
  throw new UsageError(`set ${name} ${action}: add, drop, edit, show and diff are the actions`);
}

async function listSets(flags: SetFlags): Promise<number> {
  const place = setsPlace(flags.journal);
  const names = setNames(place);
  if (names.length === 0) say('no sets yet; rollout-viewer set NAME add PATH… makes one');
  for (const name of names) {
    const set = new CuratedSet(name, place);
    if (set.problem !== null) {
      say(`the set ${name}: ${set.problem}`);
      continue;
    }
    const { size } = set.members();
    await print(flags.json === true ? `${printJson({ name, rollouts: size })}\n` : `${name}  ${size}\n`);
  }
  return names.length === 0 ? ANSWER_IS_NO : DONE;
}

async function change(
  set: CuratedSet,
  action: 'add' | 'drop',
  args: readonly string[],
  flags: SetFlags,
): Promise<number> {
  const before = set.members();
  const selected = args.length > 0 ? args.map(absolute) : action === 'drop' ? [...before.keys()] : [];
  if (selected.length === 0) throw new UsageError(`set ${set.name} ${action}: name files, directories or locators`);
  const filter = filterOf(flags.filter);
  const journal = await journalOf(pathOfArgument(selected[0] ?? ''), flags.journal);
  const kept = filter?.asksKept === true ? keptIn([journal]) : undefined;
  const common = {
    action,
    reason: flags.reason ?? null,
    filter: flags.filter ?? null,
    by: raterOf(flags.rater),
    at: new Date().toISOString(),
    version: manifest.version,
  };
  const entries: SetEntry[] = [];
  if (action === 'drop' && filter === null) {
    // By name, so that a set also loses what its dump has lost.
    for (const [locator, { source }] of before)
      if (selected.some((name) => isOf(locator, name))) entries.push({ ...common, locator, source });
  } else {
    const gone: string[] = [];
    const missing = action === 'drop' ? (locator: string): void => void gone.push(locator) : undefined;
    for await (const { row } of selectRows(selected, await dumpOptions(flags), filter, kept, missing)) {
      const source = hashOf(row.raw);
      const known = before.get(row.locator);
      if (action === 'add' ? known?.source === source : known === undefined) continue;
      entries.push({ ...common, locator: row.locator, source });
    }
    if (gone.length > 0) say(`${gone.length} gone from their dump: no filter matches them; drop them without --filter`);
  }
  try {
    if (entries.length > 0) set.append(entries);
  } catch (error) {
    throw new UsageError(`${set.path}: ${reasonOf(error)}`);
  }
  const total = set.members().size;
  await print(`${set.name}: ${entries.length} ${action === 'add' ? 'added' : 'dropped'}, ${total} in all\n`);
  return entries.length === 0 ? ANSWER_IS_NO : DONE;
}

/** @param name a locator, or a file or folder that it is in */
const isOf = (locator: string, name: string): boolean =>
  locator === name.replace(/#t\d+$/, '') || locator.startsWith(`${name}:`) || locator.startsWith(`${name}/`);

/** Rewrites a turn of a rollout as a new branch, and adds the branch to the set. */
async function edit(set: CuratedSet, args: readonly string[], flags: SetFlags): Promise<number> {
  const [locator = ''] = args;
  const place = parseLocator(absolute(locator));
  const turn = flags.turn ?? place.turn;
  if (args.length !== 1 || turn === null)
    throw new UsageError(`set ${set.name} edit LOCATOR --turn N --text FILE: name one rollout and one turn`);
  const by = raterOf(flags.rater);
  const dump = Dump.open([place.path], await dumpOptions(flags));
  const journal = await journalOf(place.path, flags.journal);
  try {
    const row = await findRow(dump, { ...place, turn });
    if (row.rollout === null) throw new UsageError(`${row.locator}: ${row.error}`);
    const text = editedTurn(row.rollout, turn, flags.text ?? true, '--text');
    const { path, branch, source } = keepEdit(journal, row, { turn, text, by });
    const reason = flags.reason ?? `turn ${turn} of ${row.locator} rewritten`;
    const entry = { action: 'add' as const, locator: branch, source, reason, filter: null, by };
    set.append([{ ...entry, at: new Date().toISOString(), version: manifest.version }]);
    await print(`${set.name}: ${sanitiseLine(branch)} added\n`);
    const again = sanitiseLine(path);
    say(`its score is unknown: rollout-viewer replay ${again} and rescore ${again} verify it for export --verified`);
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`set ${set.name} edit ${locator}: ${reasonOf(error)}`);
  } finally {
    journal.close();
    dump.close();
  }
}

/** Paths and locators must keep their meaning whatever directory the next command starts in; remote ones have a scheme or a host. */
const absolute = (arg: string): string => (/^[\w.@-]+:[/~]|^\w+:\/\//.test(arg) ? arg : resolve(arg));

async function showSet(set: CuratedSet, flags: SetFlags): Promise<number> {
  const members = set.members();
  if (members.size === 0) {
    say(`${set.name}: no rollouts`);
    return ANSWER_IS_NO;
  }
  const now = await statesNow(members, await dumpOptions(flags));
  for (const [locator, entry] of members) {
    const state = now.get(locator) ?? 'gone';
    await print(
      flags.json === true
        ? `${printJson({ ...entry, state })}\n`
        : `${[sanitiseLine(locator), state === 'same' ? '' : state, sanitiseLine(entry.reason ?? entry.filter ?? '')].filter((text) => text !== '').join('  ')}\n`,
    );
  }
  return DONE;
}

/** Whether the dumps still hold what was chosen, by locator; what is gone is not in it. */
async function statesNow(
  members: ReadonlyMap<string, SetEntry>,
  options: Awaited<ReturnType<typeof dumpOptions>>,
): Promise<Map<string, 'same' | 'changed'>> {
  const now = new Map<string, 'same' | 'changed'>();
  for await (const { row } of selectRows([...members.keys()], options, null, undefined, () => {}))
    now.set(row.locator, hashOf(row.raw) === members.get(row.locator)?.source ? 'same' : 'changed');
  return now;
}

/** Prints the members whose dump has changed since they were chosen, or is gone. */
async function diffDumps(set: CuratedSet, flags: SetFlags): Promise<number> {
  const members = set.members();
  const now = await statesNow(members, await dumpOptions(flags));
  let count = 0;
  for (const locator of members.keys()) {
    const state = now.get(locator) ?? 'gone';
    if (state === 'same') continue;
    count++;
    await printChange(locator, state === 'changed' ? '~' : '-', flags);
  }
  return count === 0 ? DONE : ANSWER_IS_NO;
}

const printChange = (locator: string, change: string, { json }: SetFlags): Promise<void> | undefined =>
  print(json === true ? `${printJson({ locator, change })}\n` : `${change} ${sanitiseLine(locator)}\n`);

async function diffSets(set: CuratedSet, [other]: readonly string[], flags: SetFlags): Promise<number> {
  if (other === undefined || !isSetName(other)) throw new UsageError(`set ${set.name} diff OTHER: name another set`);
  const [here, there] = [set.members(), readableSet(other, flags.journal).members()];
  let count = 0;
  for (const locator of new Set([...here.keys(), ...there.keys()])) {
    const [a, b] = [here.get(locator), there.get(locator)];
    const sign = a === undefined ? '+' : b === undefined ? '-' : a.source === b.source ? null : '~';
    if (sign === null) continue;
    count++;
    await printChange(locator, sign, flags);
  }
  return count === 0 ? DONE : ANSWER_IS_NO;
}
