import { type JsonFault, JsonParser } from '../json/parser.ts';
import type { JsonValue } from './json.ts';

/** What is wrong with a text that is no JSON, and where: `offset` counts UTF-16 units from 0. */
export class JsonError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const ENDED = 'the text ends before the value does';
const WORDS: Record<JsonFault, string> = {
  value: 'expected a value',
  key: 'expected a key in double quotes',
  colon: "expected ':'",
  comma: "expected ',' or the end of the list or object",
  'string end': 'the text ends inside a string',
  'control character': 'a control character inside a string',
  escape: 'an unknown escape inside a string',
  'unicode escape': 'a \\u escape without four hexadecimal digits',
  extra: 'more text after the end of the value',
  depth: 'nested too deep',
};

/**
 * Parses JSON as Python's `json.dumps` writes it: NaN and ±Infinity are numbers, integers beyond 2^53 become bigints
 * and so keep every digit, the last of duplicate keys wins, `__proto__` is a key like any other, nesting may be deep.
 * JSON.parse does the work wherever it gives the same value; only other texts pay for the second parser.
 * @throws JsonError
 */
export function parseJson(text: string): JsonValue {
  try {
    const value = JSON.parse(text) as JsonValue;
    if (!hasInexactNumber(value)) return value;
  } catch {
    // The second parser accepts more, and says where it stops.
  }
  return new JsonParser(text, (fault, at) => {
    throw new JsonError(fault === 'value' && at >= text.length ? ENDED : WORDS[fault], at);
  }).document();
}

/** JSON.parse has rounded any integer beyond 2^53; such a text is read again. Iterative, because nesting may be deep. */
function hasInexactNumber(root: JsonValue): boolean {
  if (typeof root === 'string') return false;
  const open: JsonValue[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'number') {
      if (!Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))) return true;
    } else if (Array.isArray(value)) {
      for (const item of value) if (typeof item !== 'string') open.push(item);
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) {
        const item = value[key] as JsonValue;
        if (typeof item !== 'string') open.push(item);
      }
    }
  }
  return false;
}
