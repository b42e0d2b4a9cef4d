import { diffArrays, diffWordsWithSpace } from 'diff';
import { itemAt } from '../core/lists/at.ts';

/** A line of a comparison. A changed line is a removed line paired with an added one; both mark the words that differ. */
export type DiffLine =
  | { op: 'same' | 'removed' | 'added'; text: string; words?: DiffWord[] }
  /** Equal lines that are left out. */
  | { op: 'skipped'; lines: number }
  /** Changed lines that are left out because nobody reads that many. */
  | { op: 'left_out'; removed: number; added: number };

export interface DiffWord {
  op: 'same' | 'changed';
  text: string;
}

/** Equal lines shown around a change. */
const CONTEXT = 3;
/** With more changes than this the search is not worth it: everything between the first and the last counts as changed. */
const MAX_CHANGES = 500;
/** Lines compared one by one; the rest of a longer text counts as changed. */
const MAX_COMPARED = 20_000;
/** Most lines returned for one comparison. */
const MAX_LINES = 400;
/** Words are compared in lines up to this length; longer lines are cut. */
const MAX_WORD_LINE = 2000;
const MAX_LINE = 8000;

type Change = { op: 'same' | 'removed' | 'added'; lines: string[] };

/** Recorded against new, by line and by word; null where they are equal. Bounded in time and in length for texts of any size. */
export function diffTexts(recorded: string, fresh: string): DiffLine[] | null {
  if (recorded === fresh) return null;
  const [before, after] = [recorded.split('\n'), fresh.split('\n')];
  const head = countEqual(before, after, (lines, i) => lines[i]);
  const room = Math.min(before.length, after.length) - head;
  const tail = Math.min(
    room,
    countEqual(before, after, (lines, i) => lines[lines.length - 1 - i]),
  );
  const changes: Change[] = [
    { op: 'same', lines: before.slice(0, head) },
    ...changesOf(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    { op: 'same', lines: before.slice(before.length - tail) },
  ];
  return shownChanges(changes.filter(({ lines }) => lines.length > 0));
}

function countEqual(
  a: readonly string[],
  b: readonly string[],
  at: (lines: readonly string[], i: number) => string | undefined,
): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && at(a, count) === at(b, count)) count++;
  return count;
}

function changesOf(before: string[], after: string[]): Change[] {
  const isLong = before.length > MAX_COMPARED || after.length > MAX_COMPARED;
  const changes = isLong ? undefined : diffArrays(before, after, { maxEditLength: MAX_CHANGES });
  if (changes === undefined)
    return [
      { op: 'removed', lines: before },
      { op: 'added', lines: after },
    ];
  return changes.map(({ added, removed, value }) => ({
    op: added ? 'added' : removed ? 'removed' : 'same',
    lines: value,
  }));
}

/** The first changes with the equal lines around them, and counts of the rest. */
function shownChanges(changes: readonly Change[]): DiffLine[] {
  const out: DiffLine[] = [];
  const left = { removed: 0, added: 0 };
  for (let i = 0; i < changes.length; i++) {
    const change = itemAt(changes, i);
    const next = changes[i + 1];
    const isFull = out.length >= MAX_LINES;
    if (change.op === 'same') {
      if (!isFull) pushEqual(out, change.lines, i > 0, next !== undefined);
    } else if (change.op === 'removed' && next?.op === 'added') {
      i++;
      const count = isFull ? 0 : Math.ceil((MAX_LINES - out.length) / 2);
      const [old, now] = [change.lines.slice(0, count), next.lines.slice(0, count)];
      for (const line of pairs(old, now)) out.push(line);
      left.removed += change.lines.length - old.length;
      left.added += next.lines.length - now.length;
    } else {
      const lines = change.lines.slice(0, isFull ? 0 : MAX_LINES - out.length);
      for (const text of lines) out.push({ op: change.op, text: shortLine(text) });
      left[change.op] += change.lines.length - lines.length;
    }
  }
  if (left.removed + left.added > 0) out.push({ op: 'left_out', ...left });
  return out;
}

function pushEqual(out: DiffLine[], lines: readonly string[], isAfter: boolean, isBefore: boolean): void {
  const first = isAfter ? CONTEXT : 0;
  const last = isBefore ? CONTEXT : 0;
  const skipped = lines.length - first - last;
  const same = (text: string) => out.push({ op: 'same', text: shortLine(text) });
  // A single line takes no more room than the words saying it was left out.
  if (skipped <= 1) for (const text of lines) same(text);
  else {
    for (const text of lines.slice(0, first)) same(text);
    out.push({ op: 'skipped', lines: skipped });
    for (const text of lines.slice(lines.length - last)) same(text);
  }
}

const shortLine = (line: string): string => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line);

/** Removed lines, then added ones; the n-th of each form one changed line. */
function pairs(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed: DiffLine[] = [];
  const added: DiffLine[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const [old, now] = [before[i], after[i]];
    const words = old !== undefined && now !== undefined ? changedWords(old, now) : null;
    if (old !== undefined) removed.push({ op: 'removed', text: shortLine(old), ...(words && { words: words.before }) });
    if (now !== undefined) added.push({ op: 'added', text: shortLine(now), ...(words && { words: words.after }) });
  }
  return [...removed, ...added];
}

function changedWords(before: string, after: string): { before: DiffWord[]; after: DiffWord[] } | null {
  if (before.length > MAX_WORD_LINE || after.length > MAX_WORD_LINE) return null;
  const changes = diffWordsWithSpace(before, after);
  const side = (other: 'added' | 'removed'): DiffWord[] =>
    changes
      .filter((change) => !change[other])
      .map(({ added, removed, value }) => ({ op: added || removed ? 'changed' : 'same', text: value }));
  return { before: side('added'), after: side('removed') };
}
