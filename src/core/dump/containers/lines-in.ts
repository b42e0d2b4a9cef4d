import { addNameless } from '../nameless-file.ts';
import { UNREADABLE } from '../parse-line.ts';

/**
 * A record on its way into a copy: JSON in one line, and the part of its locator after the file's path (by default
 * `:LINE`).
 */
export interface CopyLine {
  text: string | Uint8Array;
  place?: string;
  /** So many records at once, one per line, each at its line. */
  lines?: number;
  /** The next one will take a while: pass on what there is to those who wait. */
  isWaited?: boolean;
}

/** Records laid out one per line in a nameless file, so that each can be read separately. */
export interface Copy {
  fd: number;
  /** Continues writing until its next value; each value means that more lines are available. */
  fill: AsyncGenerator<void>;
  /** Locator suffixes of the lines so far; undefined for lines with their plain number. */
  places: (string | undefined)[];
  /** Why the file could not be read completely. */
  error: string | null;
}

/** One by one, what came at once. */
export function* copyLines({ lines, ...line }: CopyLine): Generator<CopyLine> {
  if (lines === undefined) yield line;
  else for (const text of Buffer.from(line.text).toString().split('\n')) yield { ...line, text };
}

/** A record that cannot be read, as a line that says why. */
export const unreadable = (why: string): string => JSON.stringify({ [UNREADABLE]: why });

/** Bytes after which waiting readers get the new lines. */
const BATCH = 1 << 20;
/** The first record is needed at once. */
const FIRST_BATCH = 1 << 14;

/** Writes the lines of a source into `fd`. If it throws, that becomes the copy's error, and the lines so far remain. */
export function lineCopyOf(fd: number, source: AsyncIterable<CopyLine> | Iterable<CopyLine>): Copy {
  const copy: Copy = { fd, fill: fill(), places: [], error: null };
  async function* fill(): AsyncGenerator<void> {
    let parts: Uint8Array[] = [];
    let bytes = 0;
    let count = 0;
    let batch = FIRST_BATCH;
    const flush = () => {
      const lines = parts;
      parts = [];
      bytes = 0;
      batch = BATCH;
      if (lines.length > 0) addNameless(fd, Buffer.concat(lines));
    };
    try {
      for await (const { text, place, lines, isWaited } of source) {
        const line = typeof text === 'string' ? Buffer.from(text) : text;
        if (place !== undefined) copy.places[count] = place;
        count += lines ?? 1;
        parts.push(line, NEWLINE);
        bytes += line.length + 1;
        if (bytes < batch && !isWaited) continue;
        flush();
        yield;
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      copy.error = error.message;
    }
    flush();
  }
  return copy;
}

const NEWLINE = Buffer.from('\n');
