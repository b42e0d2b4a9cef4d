import type { JsonObject, JsonValue } from './value.ts';

/** Values of our own output: JSON, and keys that are left out where their value is undefined. */
export type Printable = JsonValue | undefined | Printable[] | { [key: string]: Printable };

/**
 * Prints a value on one line, or indented by `indent` spaces a level. Bigints keep their digits as JSON numbers;
 * NaN and ±Infinity, which JSON does not know, become the strings "NaN", "Infinity" and "-Infinity".
 * Iterative, because nesting may be deep.
 */
export function printJson(root: Printable, indent = 0): string {
  const out: string[] = [];
  const open: { value: Printable[] | { [key: string]: Printable }; keys: string[] | null; next: number }[] = [];
  const newline = () => (indent > 0 ? `\n${' '.repeat(indent * open.length)}` : '');
  let value: Printable = root;
  for (;;) {
    if (typeof value === 'object' && value !== null) {
      const keys = Array.isArray(value)
        ? null
        : Object.keys(value).filter((key) => (value as JsonObject)[key] !== undefined);
      const length = keys === null ? (value as Printable[]).length : keys.length;
      if (keys === null && indent === 0 && isNumbers(value as Printable[])) {
        out.push(`[${(value as number[]).join(',')}]`);
      } else if (length === 0) {
        out.push(keys === null ? '[]' : '{}');
      } else {
        out.push(keys === null ? '[' : '{');
        open.push({ value, keys, next: 0 });
      }
    } else {
      out.push(scalar(value));
    }
    // Step to the next value, closing what has ended.
    for (;;) {
      const top = open.at(-1);
      if (top === undefined) return out.join('');
      const length = top.keys === null ? (top.value as Printable[]).length : top.keys.length;
      if (top.next < length) {
        out.push(top.next > 0 ? ',' : '', newline());
        if (top.keys === null) {
          value = (top.value as Printable[])[top.next];
        } else {
          const key = top.keys[top.next] as string;
          out.push(quotedKey(key), indent > 0 ? ': ' : ':');
          value = (top.value as { [key: string]: Printable })[key];
        }
        top.next++;
        break;
      }
      open.pop();
      out.push(newline(), top.keys === null ? ']' : '}');
    }
  }
}

/** Token ids come by the thousand. */
const isNumbers = (values: readonly Printable[]): boolean =>
  values.length > 0 && values.every((value) => typeof value === 'number' && Number.isFinite(value));

/**
 * Characters that a terminal would obey, reorder or hide: DEL, C1, bidi controls, line separators, invisible characters. JSON.stringify escapes
 * C0 and lone surrogates by itself. Escaped, the value is the same to whoever reads the JSON.
 */
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

const quoted = (text: string): string =>
  JSON.stringify(text).replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The same few keys come again and again. */
const quotedKeys = new Map<string, string>();
function quotedKey(key: string): string {
  const known = quotedKeys.get(key);
  if (known !== undefined) return known;
  const text = quoted(key);
  if (quotedKeys.size < 1000 && key.length < 64) quotedKeys.set(key, text);
  return text;
}

function scalar(value: null | undefined | boolean | number | bigint | string): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`;
  return value === undefined ? 'null' : typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}
