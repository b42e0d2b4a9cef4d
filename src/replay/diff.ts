import { diffArrays, diffWordsWithSpace } from 'diff';

/** A line of a comparison. A changed line is a removed one with its added one, and both tell which of their words differ. */
export type DiffLine =
  | { op: 'same' | 'removed' | 'added'; text: string; words?: DiffWord[] }
  /** So many equal lines that are left out. */
  | { op: 'skipped'; lines: number };

export interface DiffWord {
  op: 'same' | 'changed';
  text: string;
}

/** Equal lines shown around a change. */
const CONTEXT = 3;
/** More changes than this are not worth the search: everything between the first and the last is then changed. */
const MAX_CHANGES = 2000;
/** Words are compared in lines of at most so many characters. */
const MAX_WORD_LINE = 2000;

/** Recorded against new, by line and by word; null where they are equal. Bounded in time for texts of any size. */
export function diffTexts(recorded: string, fresh: string): DiffLine[] | null {
  if (recorded === fresh) return null;
  const [before, after] = [linesOf(recorded), linesOf(fresh)];
  const head = countEqual(before, after, (lines, i) => lines[i]);
  const room = Math.min(before.length, after.length) - head;
  const tail = Math.min(
    room,
    countEqual(before, after, (lines, i) => lines[lines.length - 1 - i]),
  );
  const [old, now] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const middle = changesOf(old, now);
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ op: 'same', text }));
  return leaveOutEqual([...same(before.slice(0, head)), ...middle, ...same(before.slice(before.length - tail))]);
}

/** The end of the text shows: a text with a last newline ends in an empty line. */
const linesOf = (text: string): string[] => text.split('\n');

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

function changesOf(before: string[], after: string[]): DiffLine[] {
  const changes = diffArrays(before, after, { maxEditLength: MAX_CHANGES }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  const lines: DiffLine[] = [];
  for (const [i, { added, removed, value }] of changes.entries()) {
    const next = changes[i + 1];
    if (removed && next?.added) lines.push(...pairs(value, next.value));
    else if (!(added && changes[i - 1]?.removed)) {
      const op = added ? 'added' : removed ? 'removed' : 'same';
      lines.push(...value.map((text): DiffLine => ({ op, text })));
    }
  }
  return lines;
}

/** Removed lines, then added ones; the n-th of each are one changed line. */
function pairs(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed: DiffLine[] = [];
  const added: DiffLine[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    const [old, now] = [before[i], after[i]];
    const words = old !== undefined && now !== undefined ? wordsOf(old, now) : null;
    if (old !== undefined) removed.push({ op: 'removed', text: old, ...(words && { words: words.before }) });
    if (now !== undefined) added.push({ op: 'added', text: now, ...(words && { words: words.after }) });
  }
  return [...removed, ...added];
}

function wordsOf(before: string, after: string): { before: DiffWord[]; after: DiffWord[] } | null {
  if (before.length > MAX_WORD_LINE || after.length > MAX_WORD_LINE) return null;
  const changes = diffWordsWithSpace(before, after);
  const side = (other: 'added' | 'removed'): DiffWord[] =>
    changes
      .filter((change) => !change[other])
      .map(({ added, removed, value }) => ({ op: added || removed ? 'changed' : 'same', text: value }));
  return { before: side('added'), after: side('removed') };
}

function leaveOutEqual(lines: DiffLine[]): DiffLine[] {
  const isNear = new Array<boolean>(lines.length).fill(false);
  for (const [i, { op }] of lines.entries())
    if (op !== 'same')
      for (let at = Math.max(0, i - CONTEXT); at <= Math.min(lines.length - 1, i + CONTEXT); at++) isNear[at] = true;
  const out: DiffLine[] = [];
  for (let i = 0; i < lines.length; ) {
    let end = i;
    while (end < lines.length && !isNear[end]) end++;
    if (end - i > 1) out.push({ op: 'skipped', lines: end - i });
    else if (end - i === 1) out.push(lines[i] as DiffLine);
    if (end < lines.length) out.push(lines[end] as DiffLine);
    i = end + 1;
  }
  return out;
}
