/** A set as Python prints it, and where it ends. */
export interface PrintedSet {
  end: number;
  /** Its elements in canonical order, nested sets included: equal for equal sets. */
  key: string;
  /** An element holds a string, whose hash changes with every run. */
  hasText: boolean;
}

/** Limits on the elements of a set and on nesting. */
const MAX_LENGTH = 100_000;
const MAX_DEPTH = 20;

/**
 * The set that begins at `start` of the text; null for a dict, text in braces or anything that is not a literal. The order of elements in a
 * set means nothing; in a list or a tuple within it, it does.
 */
export function readSet(text: string, start: number): PrintedSet | null {
  let at = start;
  let hasText = false;
  const stop = Math.min(text.length, start + MAX_LENGTH);
  const fail = Symbol('no set');
  const value = (depth: number): string => {
    if (depth > MAX_DEPTH || at >= stop) throw fail;
    const c = text[at] ?? '';
    if (c === '{') return `{${[...items('}', depth)].sort().join(', ')}}`;
    if (c === '(' || c === '[') {
      const close = c === '(' ? ')' : ']';
      return `${c}${items(close, depth).join(', ')}${close}`;
    }
    if (c === "'" || c === '"') return quoted(c);
    const word = /[\w.+-]+(?=[(])|[\w.+-]+j?/y;
    word.lastIndex = at;
    const found = word.exec(text);
    if (found === null) throw fail;
    at += found[0].length;
    if (text[at] !== '(') {
      if (!/^[+-]?(?:\d[\w.+-]*|inf|nan|None|True|False)$/.test(found[0])) throw fail;
      return found[0];
    }
    // frozenset({…}), Fraction(1, 2)
    return `${found[0]}(${items(')', depth).join(', ')})`;
  };
  const items = (close: string, depth: number): string[] => {
    at++;
    const found: string[] = [];
    while (text[at] !== close) {
      found.push(value(depth + 1));
      if (text.startsWith(', ', at)) at += 2;
      else if (text[at] === ',' && text[at + 1] === close) at++;
      else if (text[at] !== close) throw fail;
    }
    at++;
    return found;
  };
  const quoted = (quote: string): string => {
    const from = at;
    for (at++; at < stop && text[at] !== quote; at++) {
      if (text[at] === '\n') throw fail;
      if (text[at] === '\\') at++;
    }
    if (at >= stop) throw fail;
    at++;
    hasText = true;
    return text.slice(from, at);
  };
  try {
    const key = value(0);
    return key === '{}' ? null : { end: at, key, hasText };
  } catch (error) {
    if (error === fail) return null;
    throw error;
  }
}
