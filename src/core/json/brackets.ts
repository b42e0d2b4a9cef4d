/** A text of this length is cheap to parse, whatever it contains. */
const SHORT = 1 << 20;
/** Python's reader gives up far earlier; each level costs 50 times its bracket. */
const DEEPEST = 10_000;
/**
 * The number of objects and lists allowed in any text; beyond it the text needs this many characters for each. Log
 * probabilities with their tokens have 25 and more, a list of empty objects three: 100 MB of those would take
 * gigabytes, and most of a minute to free.
 */
const MOST = 1_000_000;
const LEAST = 20;

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d] as const;

/**
 * Why a long text is not parsed as JSON: its brackets would fill the memory, or never close. null for a short text, or
 * one that may be parsed. Strings are skipped, so that a record of prose costs next to nothing.
 */
export function bracketProblem(text: string): { problem: 'depth' | 'brackets' | 'end'; at: number } | null {
  const { length } = text;
  if (length <= SHORT) return null;
  const most = Math.max(MOST, length / LEAST);
  let depth = 0;
  let count = 0;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at);
      if (at === -1) return { problem: 'end', at: length };
    } else if (code === OPEN_LIST || code === OPEN) {
      if (++depth > DEEPEST) return { problem: 'depth', at };
      if (++count > most) return { problem: 'brackets', at };
    } else if (code === CLOSE_LIST || code === CLOSE) depth--;
  }
  return depth > 0 ? { problem: 'end', at: length } : null;
}

/** The position of the quote that ends a string, or -1. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}
