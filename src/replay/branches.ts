import { join, resolve } from 'node:path';
import { Folder, readRegular } from '../core/files/folder.ts';
import { printJson } from '../core/json/print.ts';
import type { JsonObject } from '../core/json/value.ts';
import type { Turn } from '../core/rollout/rollout.ts';
import { type DiffLine, diffTexts } from './diff.ts';
import { FORKS, type ForkEntry } from './entries.ts';
import type { Journal } from './journal/journal.ts';
import { LinesFile } from './journal/lines.ts';

/** A branch as listed under its rollout. */
export type BranchEntry = Omit<ForkEntry, 'record' | 'locator'>;

const BRANCHES = 'branches';

/** The dump of a record's branches, in the journal or where the user says. */
export function branchPath(journal: Journal, record: string, out?: string): string | null {
  const directory = out ?? (journal.directory === null ? null : join(journal.directory, BRANCHES));
  return directory === null ? null : resolve(directory, branchName(record));
}

const branchName = (record: string): string => `${record.slice(0, 12)}.jsonl`;

/** Writes a branch as a line of its dump and notes it in the journal. @throws the system's error when it cannot be written */
export function keepBranch(
  journal: Journal,
  { record, locator, out }: { record: string; locator: string; out: string | undefined },
  line: JsonObject,
  entry: Omit<BranchEntry, 'at'>,
): void {
  const folder = out === undefined ? journal.subfolder(BRANCHES) : Folder.open(resolve(out), [], true);
  if (folder === null) return;
  const file = new LinesFile((mode) => folder.openFile(branchName(record), mode));
  try {
    file.append(line);
  } finally {
    file.close();
    folder.close();
  }
  journal.append(FORKS, { record, locator, ...entry });
}

/** The branches of a record, oldest first, including those that another process has made since. */
export const branchesOf = (journal: Journal, record: string): readonly BranchEntry[] => journal.entries(FORKS, record);

/** Longer dumps of branches are not read for a screen. */
const MOST_BRANCH_BYTES = 1 << 28;

/** The lines of a dump of branches; none if the file is gone or has been replaced. */
export function branchLines(path: string): string[] {
  try {
    return readRegular(path, MOST_BRANCH_BYTES).split('\n');
  } catch {
    return [];
  }
}

/** The place at which a branch leaves its original. */
export interface BranchDifference {
  turn: number;
  /** UTF-16 offset in the turn's text, with its calls as plain JSON; 0 if the roles differ or one side has no such turn. */
  offset: number;
  /** The original's turn against the branch's. */
  diff: DiffLine[];
}

/**
 * The first turn in which two conversations differ, from turn `from` on; null if they are equal. Calls are compared by their content, not
 * by the spaces in their JSON. @param shift added to the turn number that is returned
 */
export function firstDifference(
  original: readonly Turn[],
  branch: readonly Turn[],
  from = 0,
  shift = 0,
): BranchDifference | null {
  for (let turn = Math.max(0, from); turn < Math.max(original.length, branch.length); turn++) {
    const [a, b] = [original[turn], branch[turn]];
    const [before, after] = [a ? spokenOf(a) : '', b ? spokenOf(b) : ''];
    if (a?.role === b?.role && before === after) continue;
    let offset = 0;
    if (a?.role === b?.role) while (offset < before.length && before[offset] === after[offset]) offset++;
    return { turn: turn + shift, offset, diff: diffTexts(before, after) ?? [] };
  }
  return null;
}

/** A turn's text with each call as plain JSON. */
function spokenOf({ text, parts, toolCalls }: Turn): string {
  const pieces = parts.map(({ kind, start, end, call }) => {
    const found = kind === 'call' ? toolCalls[call ?? -1] : undefined;
    if (found === undefined || found.error !== null) return text.slice(start, end);
    return `${found.name} ${printJson(found.arguments)}`;
  });
  return pieces.join('').trim();
}
