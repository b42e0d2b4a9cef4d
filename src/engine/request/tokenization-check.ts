import { diffChars } from 'diff';

/** disable: never; strict: any difference is told; ignore_strippable: differences of white space only are not. */
export type TokenizationCheck = 'disable' | 'strict' | 'ignore_strippable';

const CONTEXT = 10;
/** A rollout that differs everywhere must not hold up the others. */
const DIFF_MS = 100;

/**
 * verl's sanity check (`verl/workers/rollout/schemas.py`): the conversation rendered anew against what the accumulated ids say, compared
 * as text. Null when they agree; else a warning with every difference in its surroundings.
 */
export function tokenizationWarning(rendered: string, accumulated: string, mode: TokenizationCheck): string | null {
  if (mode === 'disable' || rendered === accumulated) return null;
  const differences: string[] = [];
  let left = 0;
  let right = 0;
  const changes = diffChars(rendered, accumulated, { timeout: DIFF_MS });
  if (!changes) return `Inconsistent training and inference tokenization detected (${mode})`;
  for (let at = 0; at < changes.length; at++) {
    const change = changes[at]!;
    if (!change.added && !change.removed) {
      left += change.value.length;
      right += change.value.length;
      continue;
    }
    // A removal and the addition behind it are one replacement.
    const other = changes[at + 1];
    const pair = change.removed && other?.added ? [change, other] : [change];
    if (pair.length === 2) at++;
    const removed = pair.find((part) => part.removed)?.value ?? '';
    const added = pair.find((part) => part.added)?.value ?? '';
    if (mode === 'strict' || removed.trim() !== added.trim()) {
      const chunk = (text: string, start: number, length: number) =>
        JSON.stringify(text.slice(Math.max(0, start - CONTEXT), start + length + CONTEXT));
      differences.push(
        `idx ${left}:${left + removed.length} -> ${right}:${right + added.length} | ` +
          `${chunk(rendered, left, removed.length)} | ${chunk(accumulated, right, added.length)}`,
      );
    }
    left += removed.length;
    right += added.length;
  }
  if (differences.length === 0) return null;
  return [
    `Inconsistent training and inference tokenization detected (${mode})`,
    'Found differences:',
    ...differences.slice(0, 20),
    ...(differences.length > 20 ? [`… and ${differences.length - 20} more`] : []),
  ].join('\n');
}
