import { diffArrays, diffChars } from 'diff';
import { itemAt } from '../../core/lists/at.ts';

export interface DifferenceRequest {
  left: string;
  right: string;
}

/** A run of characters present in only one text; offsets count UTF-16 units. */
export interface Difference {
  leftAt: number;
  rightAt: number;
  removed: string;
  added: string;
}

/** Milliseconds for a comparison; slower ones fall back to words, and then to a single difference. */
const CHARS_MS = 2000;
const WORDS_MS = 5000;

/** All differences of two texts, in order. */
export function differencesOf({ left, right }: DifferenceRequest): Difference[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  const most = Math.min(left.length, right.length) - start;
  while (end < most && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const [one, other] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  const words = (text: string) => text.match(/\s+|\w+|[^\s\w]/gu) ?? [];
  const changes =
    diffChars(one, other, { timeout: CHARS_MS })?.map(({ value, added, removed }) => ({ value, added, removed })) ??
    diffArrays(words(one), words(other), { timeout: WORDS_MS })?.map(({ value, added, removed }) => ({
      value: value.join(''),
      added,
      removed,
    }));
  if (changes === undefined) return [{ leftAt: start, rightAt: start, removed: one, added: other }];
  const found: Difference[] = [];
  let [leftAt, rightAt] = [start, start];
  for (let at = 0; at < changes.length; at++) {
    const change = itemAt(changes, at);
    if (!change.added && !change.removed) {
      leftAt += change.value.length;
      rightAt += change.value.length;
      continue;
    }
    // A removal followed by an addition is one replacement.
    const other = changes[at + 1];
    const isPair = change.removed === true && other?.added === true;
    if (isPair) at++;
    const removed = change.removed ? change.value : '';
    const added = isPair ? other.value : change.added ? change.value : '';
    found.push({ leftAt, rightAt, removed, added });
    leftAt += removed.length;
    rightAt += added.length;
  }
  return found;
}
