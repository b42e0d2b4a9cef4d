import type { JsonObject, JsonValue } from './json.ts';

/** What is wrong with a text that is no JSON, and where: `offset` counts UTF-16 units from 0. */
export class JsonError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

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
  return new Parser(text).document();
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

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD = /-?[A-Za-z]+/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const WORDS: Record<string, JsonValue> = {
  null: null,
  true: true,
  false: false,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
};
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** `{"__proto__": …}` must make a key, not set a prototype. */
function setKey(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    // The open containers, innermost last; an explicit stack, so that depth is bounded by memory alone.
    const open: { container: JsonValue[] | JsonObject; key: string }[] = [];
    for (;;) {
      this.#blank();
      const opened = this.#opening();
      let value: JsonValue;
      if (opened !== undefined) {
        value = opened;
        const isArray = Array.isArray(opened);
        this.#blank();
        if (this.#text[this.#at] !== (isArray ? ']' : '}')) {
          open.push({ container: opened, key: isArray ? '' : this.#key() });
          continue;
        }
        this.#at++;
      } else {
        value = this.#scalar();
      }
      // A value is complete: put it into its container, and close every container that ends here.
      for (;;) {
        const top = open.at(-1);
        this.#blank();
        if (top === undefined) {
          if (this.#at < this.#text.length) this.#fail('more text after the end of the value');
          return value;
        }
        const isArray = Array.isArray(top.container);
        if (Array.isArray(top.container)) top.container.push(value);
        else setKey(top.container, top.key, value);
        const next = this.#text[this.#at];
        if (next === ',') {
          this.#at++;
          if (!isArray) {
            this.#blank();
            top.key = this.#key();
          }
          break;
        }
        if (next !== (isArray ? ']' : '}')) this.#fail(`expected ',' or '${isArray ? ']' : '}'}'`);
        this.#at++;
        value = top.container;
        open.pop();
      }
    }
  }

  #opening(): JsonValue[] | JsonObject | undefined {
    const char = this.#text[this.#at];
    if (char !== '[' && char !== '{') return undefined;
    this.#at++;
    return char === '[' ? [] : {};
  }

  #key(): string {
    if (this.#text[this.#at] !== '"') this.#fail('expected a key in double quotes');
    const key = this.#string();
    this.#blank();
    if (this.#text[this.#at] !== ':') this.#fail("expected ':'");
    this.#at++;
    return key;
  }

  #scalar(): JsonValue {
    const char = this.#text[this.#at];
    if (char === undefined) this.#fail('the text ends before the value does');
    if (char === '"') return this.#string();
    NUMBER.lastIndex = this.#at;
    const number = NUMBER.exec(this.#text);
    if (number !== null) {
      this.#at += number[0].length;
      const value = Number(number[0]);
      const isInteger = number[1] === undefined && number[2] === undefined;
      return isInteger && !Number.isSafeInteger(value) ? BigInt(number[0]) : value;
    }
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.#text)?.[0];
    if (word === undefined || !Object.hasOwn(WORDS, word)) this.#fail('expected a value');
    this.#at += word.length;
    return WORDS[word] as JsonValue;
  }

  #string(): string {
    const start = this.#at++;
    let text = '';
    for (;;) {
      PLAIN.lastIndex = this.#at;
      const plain = PLAIN.exec(this.#text)?.[0] ?? '';
      text += plain;
      this.#at += plain.length;
      const char = this.#text[this.#at];
      if (char === '"') {
        this.#at++;
        return text;
      }
      if (char === undefined) throw new JsonError('the text ends inside a string', start);
      if (char !== '\\') this.#fail('a control character inside a string');
      const letter = this.#text[this.#at + 1] ?? '';
      if (letter === 'u') {
        const hex = this.#text.slice(this.#at + 2, this.#at + 6);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.#fail('a \\u escape without four hexadecimal digits');
        text += String.fromCharCode(Number.parseInt(hex, 16));
        this.#at += 6;
      } else {
        const meant = ESCAPES[letter];
        if (meant === undefined) this.#fail('an unknown escape inside a string');
        text += meant;
        this.#at += 2;
      }
    }
  }

  #blank(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.#at++;
    }
  }

  #fail(message: string): never {
    throw new JsonError(message, this.#at);
  }
}
