import { existsSync } from 'node:fs';
import { conversationOf, type ExportConversation } from '../../analysis/export/conversation.ts';
import type { Query } from '../../analysis/query/query.ts';
import { Subject } from '../../analysis/query/subject.ts';
import type { DumpOptions } from '../../core/dump/dump.ts';
import type { DumpRecord } from '../../core/dump/dump-file.ts';
import { UsageError } from '../../core/dump/paths.ts';
import { hashOf } from '../../core/json/fingerprint.ts';
import { isEdited, verifiedScore } from '../../replay/edit-branch.ts';
import { RESCORES } from '../../replay/entries.ts';
import type { Journal } from '../../replay/journal/journal.ts';
import { recordKey } from '../../replay/journal/record-key.ts';
import { keptIn } from '../../replay/results.ts';
import { CuratedSet, isSetName, type SetEntry, setNames, setPlace } from '../../replay/sets/curated-set.ts';
import { rolloutNames } from './export-target.ts';
import { journalOf } from './journal-of.ts';
import { pathOfArgument, selectRows } from './select-rows.ts';

export const setsPlace = (journal: string | undefined) => setPlace(process.env, journal);

/** @throws UsageError if its file cannot be read: it would look empty */
export function readableSet(name: string, journal: string | undefined): CuratedSet {
  const set = new CuratedSet(name, setsPlace(journal));
  if (set.problem !== null) throw new UsageError(`the set ${name}: ${set.problem}`);
  return set;
}

/** A selection that can be read several times, always in the same order. */
export interface ExportSource {
  /** Null if the arguments name paths. */
  set: { name: string; members: ReadonlyMap<string, SetEntry> } | null;
  /** The paths that are read: locators of the set, or the arguments. */
  args: readonly string[];
  /** Locators of the set whose record is not there any more. */
  missing: ReadonlySet<string>;
  /** Locators of records that hold no rollout, once they were read; `ls` says why. */
  unread: ReadonlySet<string>;
  /**
   * @param again reads only these, which passed the filter before, each with its content's hash of then
   * @throws UsageError if one has changed since
   */
  rows: (again?: ReadonlyMap<string, string>) => AsyncGenerator<{ row: DumpRecord; conversation: ExportConversation }>;
}

export interface SourceFlags {
  filter: Query | null;
  journal: string | undefined;
  isRedacted: boolean;
  isRescored: boolean;
  /** Says which answers are good. */
  good: Query | null;
}

/** @throws UsageError */
export async function exportSource(
  args: readonly string[],
  options: DumpOptions,
  flags: SourceFlags,
): Promise<ExportSource> {
  const [first = ''] = args;
  const place = setsPlace(flags.journal);
  const isName = args.length === 1 && first !== '-' && !existsSync(first) && isSetName(first);
  const isSet = isName && setNames(place).includes(first);
  if (isName && !isSet) throw new UsageError(`${first}: no file and no set has this name`);
  const set = isSet ? { name: first, members: readableSet(first, flags.journal).members() } : null;
  if (set?.members.size === 0) throw new UsageError(`the set ${first} is empty: rollout-viewer set ${first} add PATH…`);
  const locators = set === null ? args : [...set.members.keys()];
  const journal = await journalOf(pathOfArgument(locators[0] ?? ''), flags.journal);
  const asksKept = flags.filter?.asksKept === true || flags.good?.asksKept === true;
  const kept = asksKept ? keptIn([journal]) : undefined;
  const redact = flags.isRedacted ? await (await import('../../core/text/redact.ts')).redactor() : null;
  const missing = new Set<string>();
  const unread = new Set<string>();
  const take = set === null ? undefined : (locator: string): void => void missing.add(locator);
  const nameOf = set === null ? rolloutNames(args) : null;
  async function* rows(again?: ReadonlyMap<string, string>): ReturnType<ExportSource['rows']> {
    const isChosen = (locator: string): boolean => again?.has(locator) ?? true;
    const args = set === null ? locators : locators.filter(isChosen);
    const filter = again === undefined ? flags.filter : null;
    const names = new Set<string>();
    for await (const { row: read } of selectRows(args, options, filter, kept, take, isChosen)) {
      const row =
        redact === null
          ? read
          : await (await import('../../core/dump/redacted-record.ts')).redactedRecord(read, redact);
      const conversation = conversationOf(row);
      if (conversation === null) {
        unread.add(read.locator);
        continue;
      }
      if (redact !== null) {
        conversation.tokens = null;
        conversation.source = hashOf(read.raw);
      }
      // Arguments that are locators are read again, whether or not they are chosen.
      if (!isChosen(conversation.locator)) continue;
      if (nameOf !== null) {
        const name = nameOf(conversation.locator);
        if (names.has(name)) continue;
        names.add(name);
      }
      if (again !== undefined && again.get(conversation.locator) !== conversation.source)
        throw new UsageError(
          `${conversation.locator}: it changed while it was exported: nothing was written; export again`,
        );
      await markEdit(read, conversation, flags.journal);
      if (flags.isRescored) conversation.score = rescored(journal, read) ?? conversation.score;
      if (flags.good !== null) conversation.isGood = flags.good.accepts(Subject.read(read, kept));
      yield { row: read, conversation };
    }
  }
  return { set, args: locators, missing, unread, rows };
}

/** An edited branch has the score of its verification, or none. */
export async function markEdit(
  { raw, rollout, locator }: DumpRecord,
  conversation: ExportConversation,
  flag: string | undefined,
): Promise<void> {
  if (rollout === null || !isEdited(rollout)) return;
  const score = verifiedScore(await journalOf(pathOfArgument(locator), flag), raw, rollout);
  conversation.edit = score === null ? 'unverified' : 'verified';
  conversation.score = score ?? conversation.score;
}

const rescored = (journal: Journal, { raw }: DumpRecord): number | null =>
  journal.known(RESCORES, recordKey(raw)).at(-1)?.score ?? null;
