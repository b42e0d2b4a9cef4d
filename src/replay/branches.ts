import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Journal } from '../journal/journal.ts';
import { LinesFile } from '../journal/lines.ts';
import { printJson } from '../json/print.ts';
import type { JsonObject } from '../json/value.ts';
import type { Turn } from '../rollout/rollout.ts';
import { type DiffLine, diffTexts } from './diff.ts';

/** A branch as it is listed under its rollout. */
export interface BranchEntry {
  /** The dump that holds the branches of this rollout, and the branch's uid in it. */
  path: string;
  uid: string;
  /** The first turn that the model made anew. */
  turn: number;
  branch: number;
  model: string;
  status: string;
  score: number | null;
  turns: number;
  edited: boolean;
  at: string;
}

/** Where the branches of a record are kept: a dump of their own, beside the one they came from or where the user says. */
export function branchPath(journal: Journal, record: string, out?: string): string | null {
  const directory = out ?? (journal.directory === null ? null : join(journal.directory, 'branches'));
  return directory === null ? null : join(directory, `${record.slice(0, 12)}.jsonl`);
}

/** Writes a branch as a line of its dump and notes it in the journal. @throws the system's error when it cannot be written */
export function keepBranch(
  journal: Journal,
  { record, locator }: { record: string; locator: string },
  line: JsonObject,
  { path, ...entry }: Omit<BranchEntry, 'at'>,
): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const file = new LinesFile(path);
  try {
    file.append(line);
  } finally {
    file.close();
  }
  journal.append('fork', { record, locator, path, ...entry });
}

/** The branches of a record, oldest first. */
export const branchesOf = (journal: Journal, record: string): BranchEntry[] =>
  journal.known('fork', record).map((entry) => entry as unknown as BranchEntry);

/** Where a branch leaves its original. */
export interface Difference {
  turn: number;
  /** UTF-16 offset in the turn's text, its calls written as plain JSON; 0 where the roles differ or one has no such turn. */
  offset: number;
  /** The original's turn against the branch's. */
  diff: DiffLine[];
}

/**
 * The first turn in which two conversations differ, from turn `from` on; null where they say the same. Calls are compared by what they
 * ask, not by the spaces in their JSON. @param shift what is added to the number of the turn that is told
 */
export function firstDifference(
  original: readonly Turn[],
  branch: readonly Turn[],
  from = 0,
  shift = 0,
): Difference | null {
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
