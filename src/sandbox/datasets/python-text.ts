// Python's string methods, for verdicts that depend on their exact behaviour.

const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const WORD = new RegExp(`[^${SPACE}]+`, 'gu');
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
const SPACES = new Set([
  ...[9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
]);

/** str.isspace() of the character at `at`; false beyond the ends. */
export const isSpaceAt = (text: string, at: number): boolean => SPACES.has(text.charCodeAt(at));

/** str.strip(), which unlike trim() also removes ASCII's separators. */
export function strip(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpaceAt(text, start)) start++;
  while (end > start && isSpaceAt(text, end - 1)) end--;
  return text.slice(start, end);
}

/** str.split() */
export const words = (text: string): string[] => text.match(WORD) ?? [];

/** str.splitlines() */
export function lines(text: string): string[] {
  const found = text.split(LINE_END);
  if (found.at(-1) === '') found.pop();
  return found;
}

/** repr() of a str. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = text.replace(/[\\'"\p{C}\p{Z}]/gu, (character) => {
    if (character === '\\' || character === quote) return `\\${character}`;
    if (character === ' ' || character === "'" || character === '"') return character;
    return ESCAPES[character] ?? codePoint(character.codePointAt(0) ?? 0);
  });
  return `${quote}${body}${quote}`;
}

const ESCAPES: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function codePoint(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}

/** repr() of a list of str. */
export const quotedList = (texts: readonly string[]): string => `[${texts.map(quoted).join(', ')}]`;

/** The text before the first `mark`, or all of it without one. */
export function before(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(0, at);
}
