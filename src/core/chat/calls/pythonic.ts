import type { JsonObject, JsonValue } from '../../json/value.ts';
import { failedCall, type ReadCall } from './call.ts';

/** `f(a='x', b=2)`, one call after another; arguments are named Python literals. */
export function pythonCalls(body: string): ReadCall[] {
  const calls: ReadCall[] = [];
  const reader = new PythonicReader(body);
  for (;;) {
    reader.blank();
    reader.skip(',');
    reader.blank();
    if (reader.isDone) return calls;
    try {
      calls.push(reader.call());
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      calls.push(failedCall(`not a Python call: ${error.message} (character ${reader.at + 1} of the call)`));
      return calls;
    }
  }
}

/** A Python literal; undefined for any other text. None is null. */
export function pythonValue(text: string): JsonValue | undefined {
  const reader = new PythonicReader(text);
  try {
    const value = reader.value();
    reader.blank();
    return reader.isDone ? value : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

const WORDS: Readonly<Record<string, JsonValue>> = {
  None: null,
  null: null,
  True: true,
  true: true,
  False: false,
  false: false,
};
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0', b: '\b', f: '\f', '\n': '' };

/** The nesting limit of lists. */
const DEEPEST = 500;

class PythonicReader {
  at = 0;
  #depth = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get isDone(): boolean {
    return this.at >= this.#text.length;
  }

  blank(): void {
    while (/\s/.test(this.#text[this.at] ?? '')) this.at++;
  }

  skip(char: string): boolean {
    if (this.#text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  call(): ReadCall {
    const name = this.#match(/[A-Za-z_][\w.]*/y);
    if (name === null) throw new SyntaxError('a name is missing');
    this.#expect('(');
    const given: JsonObject = {};
    for (this.blank(); !this.skip(')'); this.blank()) {
      const key = this.#match(/[A-Za-z_]\w*/y);
      if (key === null) throw new SyntaxError('an argument has no name');
      this.blank();
      this.#expect('=');
      given[key] = this.value();
      this.blank();
      if (!this.skip(',') && this.#text[this.at] !== ')') throw new SyntaxError('`,` or `)` is missing');
    }
    return { name, arguments: given, error: null };
  }

  value(): JsonValue {
    this.blank();
    const char = this.#text[this.at];
    if (char === '"' || char === "'") return this.#string(char);
    if (char === '[' || char === '(' || char === '{') {
      if (++this.#depth > DEEPEST) throw new SyntaxError('it is nested too deep');
      this.at++;
      const inner = char === '{' ? this.#dict() : this.#list(char === '[' ? ']' : ')');
      this.#depth--;
      return inner;
    }
    const number = this.#match(/-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y);
    if (number !== null) return Number(number);
    const word = this.#match(/[A-Za-z_]\w*/y);
    if (word !== null && Object.hasOwn(WORDS, word)) return WORDS[word]!;
    throw new SyntaxError('a value is missing');
  }

  #string(quote: string): string {
    const long = this.#text.startsWith(quote.repeat(3), this.at);
    const close = long ? quote.repeat(3) : quote;
    let out = '';
    for (this.at += close.length; !this.#text.startsWith(close, this.at); this.at++) {
      if (this.isDone) throw new SyntaxError('a text does not end');
      const char = this.#text[this.at];
      if (char !== '\\') {
        out += char;
        continue;
      }
      const next = this.#text[++this.at] ?? '';
      const code = /^(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(this.#text.slice(this.at, this.at + 5));
      if (code !== null) {
        out += String.fromCharCode(Number.parseInt(code[1] ?? code[2] ?? '', 16));
        this.at += code[0].length - 1;
      } else out += ESCAPES[next] ?? (/['"\\]/.test(next) ? next : `\\${next}`);
    }
    this.at += close.length;
    return out;
  }

  #list(close: string): JsonValue[] {
    const values: JsonValue[] = [];
    for (this.blank(); !this.skip(close); this.blank()) {
      values.push(this.value());
      this.blank();
      if (!this.skip(',') && this.#text[this.at] !== close) throw new SyntaxError(`\`,\` or \`${close}\` is missing`);
    }
    return values;
  }

  #dict(): JsonObject {
    const object: JsonObject = {};
    for (this.blank(); !this.skip('}'); this.blank()) {
      const key = this.value();
      this.blank();
      this.#expect(':');
      object[String(key)] = this.value();
      this.blank();
      if (!this.skip(',') && this.#text[this.at] !== '}') throw new SyntaxError('`,` or `}` is missing');
    }
    return object;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  #expect(char: string): void {
    if (!this.skip(char)) throw new SyntaxError(`\`${char}\` is missing`);
  }
}
