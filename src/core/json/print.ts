/** Values of our output: JSON and records of any type, printed with their own keys; undefined ones are left out. */
export type Printable = null | boolean | number | bigint | string | undefined | object;

/**
 * Prints a value on one line, or indented by `indent` spaces per level. Bigints keep their digits as JSON numbers; NaN
 * and ±Infinity, which JSON lacks, become the strings "NaN", "Infinity" and "-Infinity".
 */
export function printJson(root: Printable, indent = 0): string {
  try {
    // Node's printer is several times as fast.
    if (isPlainJson(root)) return escapedJson(JSON.stringify(root ?? null, null, indent));
  } catch (error) {
    // The nesting is too deep for Node's recursion.
    if (!(error instanceof RangeError)) throw error;
  }
  return printAny(root, indent);
}

/** A list, whose elements may be anything printable. */
const isList = (value: object): value is readonly Printable[] => Array.isArray(value);
/** Any other object, by its keys. */
const isRecord = (value: object): value is Readonly<Record<string, Printable>> => !Array.isArray(value);

/** Whether JSON can express everything in it. */
function isPlainJson(value: Printable): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (isList(value)) {
    // Lists of numbers are long, and an iterator allocates per element.
    for (let at = 0; at < value.length; at++) {
      const one = value[at];
      if (typeof one === 'number' ? !Number.isFinite(one) : !isPlainJson(one)) return false;
    }
    return true;
  }
  if (isRecord(value)) for (const key in value) if (!isPlainJson(value[key])) return false;
  return true;
}

/** The part of a list (without keys) or a record that is not printed yet. */
interface OpenValue {
  keys: readonly string[] | null;
  values: readonly Printable[];
  next: number;
}

function openValue(value: object): OpenValue {
  if (isList(value)) return { keys: null, values: value, next: 0 };
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return { keys: entries.map(([key]) => key), values: entries.map(([, one]) => one), next: 0 };
}

/** Iterative, because nesting may be deep. */
function printAny(root: Printable, indent: number): string {
  const out: string[] = [];
  const open: OpenValue[] = [];
  const newline = () => (indent > 0 ? `\n${' '.repeat(indent * open.length)}` : '');
  let value = root;
  for (;;) {
    if (typeof value === 'object' && value !== null) {
      const one = openValue(value);
      if (one.values.length === 0) out.push(one.keys === null ? '[]' : '{}');
      else {
        out.push(one.keys === null ? '[' : '{');
        open.push(one);
      }
    } else out.push(scalar(value));
    // Advance to the next value, closing finished containers.
    for (;;) {
      const top = open.at(-1);
      if (top === undefined) return out.join('');
      const { keys, values } = top;
      if (top.next < values.length) {
        out.push(top.next > 0 ? ',' : '', newline());
        if (keys !== null) out.push(quoted(keys[top.next] ?? ''), indent > 0 ? ': ' : ':');
        value = values[top.next++];
        break;
      }
      open.pop();
      out.push(newline(), keys === null ? ']' : '}');
    }
  }
}

/**
 * Characters that a terminal would obey, reorder or hide: DEL, C1, bidi controls, line separators, invisible
 * characters. JSON.stringify already escapes C0 and lone surrogates. Escaping does not change the parsed value.
 */
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** They occur only in strings, so the whole text can be escaped at once. */
const escapedJson = (json: string): string =>
  isAscii(json)
    ? json
    : json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Whether every character is a single byte and none is DEL: a fast path, because lines of numbers are long and a
 * pattern is slow.
 */
const isAscii = (json: string): boolean => Buffer.byteLength(json) === json.length && !json.includes('\u007f');

const quoted = (text: string): string => escapedJson(JSON.stringify(text));

function scalar(value: null | undefined | boolean | number | bigint | string): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`;
  return value === undefined ? 'null' : typeof value === 'string' ? quoted(value) : JSON.stringify(value);
}
