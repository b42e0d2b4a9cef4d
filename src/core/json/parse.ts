import { bracketProblem } from './brackets.ts';
import { type JsonFault, JsonParser } from './parser.ts';
import { type JsonObject, type JsonValue, plainJson } from './value.ts';

/** Describes what is wrong with a text that is not JSON, and where. */
export class JsonError extends Error {
  /** UTF-16 units before the fault; code points if thrown by `parsePythonJson`. */
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'JsonError';
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
  digits: 'an integer with too many digits',
};

const BRACKETS = {
  end: ENDED,
  depth: WORDS.depth,
  brackets: 'more brackets than a record has: they would fill the memory',
} as const;

/**
 * Parses JSON as Python's `json.dumps` writes it: NaN and ±Infinity are numbers, integers beyond 2^53 become bigints
 * and so keep every digit, the last of duplicate keys wins, `__proto__` is an ordinary key, nesting may be deep.
 * JSON.parse does the work if it gives the same value; only other texts pay for the second parser.
 * @throws JsonError
 */
export function parseJson(text: string): JsonValue {
  const brackets = bracketProblem(text);
  if (brackets !== null) throw new JsonError(BRACKETS[brackets.problem], brackets.at);
  try {
    const value = plainJson(text);
    if (!hasInexactNumber(value)) return value;
  } catch {
    // The second parser accepts more, and reports where it stops.
  }
  return new JsonParser(text, (fault, at) => {
    throw new JsonError(fault === 'value' && at >= text.length ? ENDED : WORDS[fault], at);
  }).document();
}

/** CPython's wording of the same faults. */
const PYTHON_WORDS: Record<JsonFault, string> = {
  value: 'Expecting value',
  key: 'Expecting property name enclosed in double quotes',
  colon: "Expecting ':' delimiter",
  comma: "Expecting ',' delimiter",
  'string end': 'Unterminated string starting at',
  'control character': 'Invalid control character at',
  escape: 'Invalid \\escape',
  'unicode escape': 'Invalid \\uXXXX escape',
  extra: 'Extra data',
  depth: 'maximum recursion depth exceeded',
  digits: 'Exceeds the limit (4300 digits) for integer string conversion',
};

/** CPython's recursion limit rejects deeper input. */
const PYTHON_DEPTH = 900;
/** CPython's limit on an integer's digits; parsing time grows with the square of its length. */
const PYTHON_DIGITS = 4300;
const LONG_INTEGER = /\d{16}/;

/**
 * Parses like `parseJson`, with the errors of CPython's `json` module, which FastAPI puts into a 422.
 * @throws JsonError with CPython's message, and its position in code points
 */
export function parsePythonJson(text: string): JsonValue {
  if (!LONG_INTEGER.test(text)) {
    try {
      return plainJson(text);
    } catch {
      // Python may still accept it (NaN); otherwise we need its error message.
    }
  }
  const fail = (fault: JsonFault, at: number): never => {
    // CPython points after the backslash there.
    const end = fault === 'unicode escape' ? at + 1 : at;
    throw new JsonError(PYTHON_WORDS[fault], codePoints(text, end));
  };
  return new JsonParser(text, fail, PYTHON_DEPTH, PYTHON_DIGITS).document();
}

/** JSON.parse rounds integers beyond 2^53; such a text is parsed again. Iterative, because nesting may be deep. */
function hasInexactNumber(root: JsonValue): boolean {
  if (typeof root !== 'object' || root === null) return isInexact(root);
  const open: (JsonValue[] | JsonObject)[] = [root];
  // Lists of numbers are long: only containers go on the stack.
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) {
        const item = value[at];
        if (typeof item === 'number' && isInexact(item)) return true;
        if (typeof item === 'object' && item !== null) open.push(item);
      }
    } else {
      for (const key of Object.keys(value)) {
        const item = value[key];
        if (typeof item === 'number' && isInexact(item)) return true;
        if (typeof item === 'object' && item !== null) open.push(item);
      }
    }
  }
  return false;
}

const isInexact = (value: JsonValue): boolean =>
  typeof value === 'number' && !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value));

/** How many code points the first `end` UTF-16 units hold. */
function codePoints(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}
