import { createHash } from 'node:crypto';
import { diffArrays } from 'diff';
import { itemAt } from '../../core/lists/at.ts';

/**
 * certain: the content, or that there is no such file, follows from the record; partial: some lines do; unknown:
 * something could have changed it in a way that the record does not show.
 */
export type FileStatus = 'certain' | 'partial' | 'unknown';

/** A line and the call that wrote it; null = older than the rollout, or unknown. */
export interface KnownLine {
  text: string;
  by: number | null;
}

/** A file as far as it is known at one moment; immutable. */
export interface KnownFile {
  status: FileStatus;
  /** The content of a certain file; null = it does not exist. null for other files. */
  text: string | null;
  /** The known lines by number, from 1: all for a certain file, none for an unknown one. */
  lines: ReadonlyMap<number, KnownLine>;
  /** All lines are known, though their ends may not be. */
  isWhole: boolean;
}

export const UNKNOWN: KnownFile = { status: 'unknown', text: null, lines: new Map(), isWhole: false };
export const GONE: KnownFile = { status: 'certain', text: null, lines: new Map(), isWhole: true };

/** Larger changes are not searched for equal lines. */
const MAX_EDIT = 2000;

/** A file whose content is certain. Lines shared with the previous version keep the call that wrote them. */
export function certainFile(text: string, call: number | null, before: KnownFile = UNKNOWN): KnownFile {
  const texts = linesOf(text);
  const lines = new Map<number, KnownLine>();
  for (const [i, line] of texts.entries()) lines.set(i + 1, { text: line, by: call });
  const old = [...before.lines].sort(([a], [b]) => a - b).map(([, line]) => line);
  let at = 1;
  let from = 0;
  const parts = diffArrays(
    old.map((line) => line.text),
    texts,
    { maxEditLength: MAX_EDIT },
  );
  for (const { added, removed, count = 0 } of parts ?? []) {
    if (removed) from += count;
    else if (added) at += count;
    else for (let i = 0; i < count; i++) lines.set(at++, itemAt(old, from++));
  }
  return { status: 'certain', text, lines, isWhole: true };
}

/** The lines of a text; a final newline starts no new line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export const partialFile = (lines: ReadonlyMap<number, KnownLine>, isWhole = false): KnownFile => ({
  status: 'partial',
  text: null,
  lines,
  isWhole,
});

/** The known lines as ranges of numbers, inclusive. */
export function rangesOf({ lines }: KnownFile): [number, number][] {
  const ranges: [number, number][] = [];
  for (const number of [...lines.keys()].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
}

/** SHA-256 of the UTF-8 bytes; null if the content is not certain, or there is no file. */
export const contentHash = ({ status, text }: KnownFile): string | null =>
  status === 'certain' && text !== null ? createHash('sha256').update(text, 'utf8').digest('hex') : null;

/** Python's `str.expandtabs`: columns restart after a line end. */
export function tabsExpanded(text: string, size = 8): string {
  if (!text.includes('\t')) return text;
  let out = '';
  let column = 0;
  for (const c of text) {
    if (c === '\t') {
      const width = size - (column % size);
      out += ' '.repeat(width);
      column += width;
    } else {
      out += c;
      column = c === '\n' || c === '\r' ? 0 : column + 1;
    }
  }
  return out;
}

/** The text as Python's text mode reads it. */
export const universalNewlines = (text: string): string => text.replace(/\r\n?/g, '\n');
