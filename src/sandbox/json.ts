// JSON as Python's `json` reads it: bare NaN and Infinity, integers of any length (bigint beyond 2^53, so that an
// id keeps its digits), and errors with CPython's wording and character position, which FastAPI puts into a 422.

import { type Json, type JsonFault, JsonParser } from '../json/parser.ts';

export type { Json };

export class JsonError extends Error {
  /** Characters before the fault, counted in code points as Python does. */
  readonly position: number;
  constructor(message: string, position: number) {
    super(message);
    this.name = 'JsonError';
    this.position = position;
  }
}

/** A body deeper than this is refused, as CPython's recursion limit does. */
const MAX_DEPTH = 900;
const LONG_INTEGER = /\d{16}/;

/** CPython's wording. */
const WORDS: Record<JsonFault, string> = {
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
};

/** @throws {JsonError} with the message and position of CPython's json module. */
export function parseJson(text: string): Json {
  if (!LONG_INTEGER.test(text)) {
    try {
      return JSON.parse(text) as Json;
    } catch {
      // Python may still accept it (NaN), and otherwise its error message is wanted.
    }
  }
  const fail = (fault: JsonFault, at: number): never => {
    // CPython points behind the backslash there.
    const end = fault === 'unicode escape' ? at + 1 : at;
    let position = 0;
    for (const _ of text.slice(0, end)) position++;
    throw new JsonError(WORDS[fault], position);
  };
  return new JsonParser(text, fail, MAX_DEPTH).document();
}

/** Compact JSON; bigints keep their digits, NaN and ±Infinity become the strings that name them. */
export function writeJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value));
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${writeJson(member)}`).join(',')}}`;
}
