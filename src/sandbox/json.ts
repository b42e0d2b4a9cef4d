// JSON as Python's `json` reads it: bare NaN and Infinity, integers of any length (bigint beyond 2^53, so that an
// id keeps its digits), and errors with CPython's wording and character position, which FastAPI puts into a 422.

export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

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
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const WORDS: [string, Json][] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
];

/** @throws {JsonError} with the message and position of CPython's json module. */
export function parseJson(text: string): Json {
  if (!LONG_INTEGER.test(text)) {
    try {
      return JSON.parse(text) as Json;
    } catch {
      // Python may still accept it (NaN), and otherwise its error message is wanted.
    }
  }
  return new Parser(text).document();
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

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    this.#space();
    const value = this.#value();
    this.#space();
    if (this.#at < this.#text.length) this.#fail('Extra data');
    return value;
  }

  #fail(message: string, at = this.#at): never {
    let position = 0;
    for (const _ of this.#text.slice(0, at)) position++;
    throw new JsonError(message, position);
  }

  #space(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? '-')) this.#at++;
  }

  #value(): Json {
    const first = this.#text[this.#at];
    if (first === '"') return this.#string();
    if (first === '{') return this.#nested(() => this.#object());
    if (first === '[') return this.#nested(() => this.#array());
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(this.#text);
    if (number) {
      this.#at += number[0].length;
      const value = Number(number[0]);
      const integer = number[1] === undefined && number[2] === undefined;
      return integer && !Number.isSafeInteger(value) ? BigInt(number[0]) : value;
    }
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return this.#fail('Expecting value');
  }

  #nested<T>(read: () => T): T {
    if (++this.#depth > MAX_DEPTH) this.#fail('maximum recursion depth exceeded');
    this.#at++;
    this.#space();
    const value = read();
    this.#depth--;
    return value;
  }

  #array(): Json[] {
    const items: Json[] = [];
    if (this.#text[this.#at] !== ']') {
      for (;;) {
        items.push(this.#value());
        if (!this.#comma(']')) break;
      }
    }
    this.#at++;
    return items;
  }

  #object(): { [key: string]: Json } {
    const members: [string, Json][] = [];
    if (this.#text[this.#at] !== '}') {
      for (;;) {
        if (this.#text[this.#at] !== '"') this.#fail('Expecting property name enclosed in double quotes');
        const key = this.#string();
        this.#space();
        if (this.#text[this.#at] !== ':') this.#fail("Expecting ':' delimiter");
        this.#at++;
        this.#space();
        members.push([key, this.#value()]);
        if (!this.#comma('}')) break;
      }
    }
    this.#at++;
    // fromEntries defines own properties, so a key "__proto__" stays a key.
    return Object.fromEntries(members);
  }

  #comma(closing: string): boolean {
    this.#space();
    if (this.#text[this.#at] === closing) return false;
    if (this.#text[this.#at] !== ',') this.#fail("Expecting ',' delimiter");
    this.#at++;
    this.#space();
    return true;
  }

  #string(): string {
    const start = this.#at++;
    const parts: string[] = [];
    for (;;) {
      PLAIN.lastIndex = this.#at;
      const plain = PLAIN.exec(this.#text)?.[0] ?? '';
      parts.push(plain);
      this.#at += plain.length;
      const next = this.#text[this.#at];
      if (next === '"') break;
      if (next === undefined) this.#fail('Unterminated string starting at', start);
      if (next !== '\\') this.#fail('Invalid control character at');
      parts.push(this.#escape(start));
    }
    this.#at++;
    return parts.join('');
  }

  #escape(start: number): string {
    const letter = this.#text[this.#at + 1];
    if (letter === undefined) this.#fail('Unterminated string starting at', start);
    if (letter === 'u') {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail('Invalid \\uXXXX escape', this.#at + 1);
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = ESCAPES[letter];
    if (character === undefined) this.#fail('Invalid \\escape');
    this.#at += 2;
    return character;
  }
}
