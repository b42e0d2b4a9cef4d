import { lastItem } from '../../../core/lists/at.ts';
import { type Lines, lineAt } from '../../../core/text/wrap.ts';
import type { Block } from './block.ts';

/** A block with more lines than twice both shows its head and its tail: a traceback names the error at its end. */
export const CLIP_HEAD = 24;
export const CLIP_TAIL = 16;

export const isLong = (lines: number): boolean => lines > (CLIP_HEAD + CLIP_TAIL) * 2;

/** The visible lines of a long block: its head, its tail, and lines with notes. */
export function keptLines({ notes = [] }: Block, lines: Lines): [from: number, to: number][] {
  const { count } = lines;
  const spoken = notes.map(({ at }): [number, number] => {
    const line = lineAt(lines, at);
    return [line - 1, line + 2];
  });
  const kept: [number, number][] = [[0, CLIP_HEAD]];
  for (const [from, to] of [...spoken, [count - CLIP_TAIL, count] as const]) {
    const last = lastItem(kept);
    // A gap of one line is as tall as the row that would replace it.
    if (from <= last[1] + 1) last[1] = Math.max(last[1], Math.min(to, count));
    else kept.push([from, Math.min(to, count)]);
  }
  return kept;
}
