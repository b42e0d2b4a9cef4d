// The Java of an answer, one file per top-level type, as JUnit's runner expects. A type ends at a
// lone brace at the beginning of a line; the text is searched forward only.
import { isSpaceAt } from './python-text.ts';

/** The texts of the blocks that upstream treats as Java. */
export function javaBlocks(completion: string): string[] {
  if (completion.includes('[Java]')) {
    const inside = between(completion, '[Java]', '[/Java]');
    return [inside ?? NOTHING];
  }
  if (completion.includes('```')) {
    const lower = blocksAfter(completion, '```java', true);
    const upper = blocksAfter(lower.rest, '```Java', false);
    const bare = blocksAfter(upper.rest, '```', true);
    return [...lower.found, ...upper.found, ...bare.found];
  }
  const from = completion.includes('import ')
    ? completion.indexOf('import ')
    : Math.min(...['public ', 'interface ', 'class '].map((word) => indexOr(completion, word)));
  const end = from === Number.POSITIVE_INFINITY ? -1 : completion.indexOf('}}', from);
  return [end < 0 ? NOTHING : completion.slice(from, end + 2)];
}

/** Upstream's placeholder for missing code. */
const NOTHING = 'NaN';

const indexOr = (text: string, word: string): number => {
  const at = text.indexOf(word);
  return at < 0 ? Number.POSITIVE_INFINITY : at;
};

function between(text: string, open: string, close: string): string | null {
  const from = text.indexOf(open);
  const to = from < 0 ? -1 : text.indexOf(close, from + open.length);
  return to < 0 ? null : text.slice(from + open.length, to);
}

/** @param ownLines the fences are alone on their lines, and those line ends are not code */
function blocksAfter(text: string, fence: string, ownLines: boolean): { found: string[]; rest: string } {
  const found: string[] = [];
  let rest = '';
  let at = 0;
  for (;;) {
    const open = text.indexOf(fence, at);
    const from = open + fence.length;
    if (open < 0) return { found, rest: rest + text.slice(at) };
    if (ownLines && !isLineEnd(text, from)) {
      rest += text.slice(at, from);
      at = from;
      continue;
    }
    const start = ownLines ? from + 1 : from;
    let close = text.indexOf('```', start);
    while (ownLines && close >= 0 && !isLineEnd(text, close - 1)) close = text.indexOf('```', close + 1);
    if (close < 0) return { found, rest: rest + text.slice(at) };
    found.push(text.slice(start, Math.max(start, ownLines ? close - 1 : close)));
    rest += text.slice(at, open);
    at = close + 3;
  }
}

const isLineEnd = (text: string, at: number): boolean => text[at] === '\n' || text[at] === '\r';

const HEAD = 'import org.junit.jupiter.api.Test;\nimport static org.junit.jupiter.api.Assertions.*;\n';
const KINDS = ['interface', 'class', 'enum'] as const;

/** File names and contents: every type of every text, with that text's imports. */
export function javaFiles(texts: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const text of texts) {
    const code = `\n${text}`;
    const imports = code.split('\n').filter((line, index, all) => line.startsWith('import ') && index < all.length - 1);
    for (const kind of KINDS) {
      for (const type of javaTypes(code, kind)) {
        const name = nameAfter(type, `${kind} `);
        if (name !== null) files.set(`${name}.java`, `${HEAD}${imports.join('\n')}\n${type}\n`);
      }
    }
  }
  return files;
}

/** Each from its annotations, or the beginning of its line, to its closing brace. */
function javaTypes(code: string, kind: (typeof KINDS)[number]): string[] {
  const found: string[] = [];
  let annotation = code.indexOf('@');
  for (let at = 0; ; ) {
    const keyword = code.indexOf(`${kind} `, at);
    if (keyword < 0) return found;
    const end = endOfType(code, keyword + kind.length + 1, kind === 'enum');
    if (end < 0) return found;
    if (annotation >= 0 && annotation < at) annotation = code.indexOf('@', at);
    const line = code.lastIndexOf('\n', keyword);
    const starts = [keyword, annotation, line].filter((start) => start >= at && start <= keyword);
    found.push(code.slice(Math.min(...starts), end));
    at = end;
  }
}

/** Past a brace at the beginning of a line; except for an enum, the text before it ends with a brace or a semicolon. */
function endOfType(code: string, from: number, anything: boolean): number {
  for (let line = code.indexOf('\n}', from); line >= 0; line = code.indexOf('\n}', line + 1)) {
    let last = line - 1;
    while (last >= from && isSpaceAt(code, last)) last--;
    if (anything || (last >= from && (code[last] === ';' || code[last] === '}'))) return line + 2;
  }
  return -1;
}

function nameAfter(text: string, word: string): string | null {
  const from = text.indexOf(word) + word.length;
  let to = from;
  while (to < text.length && !isSpaceAt(text, to)) to++;
  return to === text.length || to === from ? null : text.slice(from, to);
}
