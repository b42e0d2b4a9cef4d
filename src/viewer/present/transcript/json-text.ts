/** A longer text stays as it is. */
const MOST = 100_000;
/** A list or object that fits into this many characters stays on one line. */
const LINE = 72;
const MOST_NESTED = 60;
const STEP = 2;

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** A value as it was written; of a list or object its entries. */
interface Node {
  /** On one line, if that is short. */
  inline: string | null;
  open?: string;
  entries?: readonly Node[];
  key?: string;
}

/**
 * A JSON object or list over several lines, its numbers and strings as they were written; null if the text is something
 * else, already has several lines, or is short.
 */
export function jsonLines(text: string): string | null {
  const own = text.trim();
  if (own.length <= LINE || own.length > MOST || own.includes('\n') || !/^[{[]/.test(own)) return null;
  try {
    JSON.parse(own);
  } catch {
    return null;
  }
  const root = nodeOf(own.match(TOKENS) ?? []);
  return root === null ? null : linesOf(root, 0);
}

/** Whether a text is a JSON object or list, so that it has colours. */
export function isJson(text: string): boolean {
  const own = text.trim();
  if (own.length > MOST || !/^[{[]/.test(own)) return false;
  try {
    JSON.parse(own);
    return true;
  } catch {
    return false;
  }
}

/** @param tokens of a valid text; null if it is nested deeper than people read */
function nodeOf(tokens: readonly string[]): Node | null {
  let at = 0;
  const next = (depth: number): Node | null => {
    const open = tokens[at++] ?? '';
    if (open !== '{' && open !== '[') return { inline: open };
    if (depth > MOST_NESTED) return null;
    const entries: Node[] = [];
    while (tokens[at] !== '}' && tokens[at] !== ']') {
      const key = open === '{' ? tokens[at] : undefined;
      if (key !== undefined) at += 2;
      const value = next(depth + 1);
      if (value === null) return null;
      entries.push(key === undefined ? value : { ...value, key });
      if (tokens[at] === ',') at++;
    }
    const close = tokens[at++] ?? '';
    let inline: string | null = open;
    for (const [i, entry] of entries.entries()) {
      const one = entry.inline === null ? null : (i > 0 ? ', ' : '') + keyed(entry) + entry.inline;
      inline = one === null || inline === null || inline.length + one.length > LINE ? null : inline + one;
    }
    return { inline: inline === null ? null : inline + close, open, entries };
  };
  return next(0);
}

const keyed = ({ key }: Node): string => (key === undefined ? '' : `${key}: `);

function linesOf({ inline, open, entries = [] }: Node, indent: number): string {
  if (inline !== null) return inline;
  const pad = ' '.repeat(indent + STEP);
  const lines = entries.map((entry) => pad + keyed(entry) + linesOf(entry, indent + STEP));
  return `${open}\n${lines.join(',\n')}\n${' '.repeat(indent)}${open === '{' ? '}' : ']'}`;
}
