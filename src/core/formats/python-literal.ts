import type { JsonObject, JsonValue } from '../json/value.ts';

/**
 * A value as Python's `repr` writes it (`{'role': 'system', 'content': "it's"}`, `None`, `(1, 2)`, `nan`). Tuples
 * become lists; names such as `Status.DONE` and all keys become text. Undefined for any other text.
 */
export function parsePythonLiteral(text: string): JsonValue | undefined {
  const reader = new LiteralReader(text);
  try {
    return reader.whole();
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

const WORDS: Record<string, JsonValue> = {
  None: null,
  True: true,
  False: false,
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
};
const ESCAPES: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
};

class LiteralReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): JsonValue {
    const value = this.#value();
    this.#blank();
    if (this.#at < this.#text.length) throw new SyntaxError('text behind the value');
    return value;
  }

  #value(): JsonValue {
    this.#blank();
    const char = this.#text[this.#at] ?? '';
    if (char === '{') return this.#dict();
    if (char === '[') return this.#items('[', ']');
    if (char === '(') return this.#items('(', ')');
    if (char === "'" || char === '"') return this.#string(char);
    const word = this.#match(/[-+]?[\w.]+(?:(?<=[eE])[-+]\d+)?/y);
    if (word === null) throw new SyntaxError(`unexpected ${char}`);
    const sign = word.startsWith('-') ? -1 : 1;
    const bare = word.replace(/^[-+]/, '');
    if (Object.hasOwn(WORDS, bare)) {
      const value = WORDS[bare]!;
      return typeof value === 'number' ? sign * value : value;
    }
    if (/^\d+$/.test(bare)) {
      const number = Number(word);
      return Number.isSafeInteger(number) ? number : BigInt(word);
    }
    const number = Number(word);
    if (!Number.isNaN(number)) return number;
    if (/^[A-Za-z_][\w.]*$/.test(word)) return word;
    throw new SyntaxError(`unexpected ${word}`);
  }

  #items(open: string, close: string): JsonValue[] {
    this.#take(open);
    const items: JsonValue[] = [];
    while (!this.#has(close)) {
      items.push(this.#value());
      if (!this.#has(',')) {
        this.#take(close);
        return items;
      }
    }
    return items;
  }

  #dict(): JsonObject {
    this.#take('{');
    const dict: JsonObject = Object.create(null);
    while (!this.#has('}')) {
      const key = this.#value();
      this.#take(':');
      dict[typeof key === 'string' ? key : String(key)] = this.#value();
      if (!this.#has(',')) {
        this.#take('}');
        return dict;
      }
    }
    return dict;
  }

  #string(quote: string): string {
    this.#at++;
    let text = '';
    for (;;) {
      const start = this.#at;
      while (this.#at < this.#text.length && this.#text[this.#at] !== quote && this.#text[this.#at] !== '\\')
        this.#at++;
      text += this.#text.slice(start, this.#at);
      if (this.#at >= this.#text.length) throw new SyntaxError('the string does not end');
      if (this.#text[this.#at++] === quote) return text;
      text += this.#escape();
    }
  }

  #escape(): string {
    const code = this.#match(/x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}/y);
    if (code !== null) return String.fromCodePoint(Number.parseInt(code.slice(1), 16));
    const char = this.#text[this.#at++] ?? '';
    return ESCAPES[char] ?? (/[\\'"]/.test(char) ? char : `\\${char}`);
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }

  #has(char: string): boolean {
    this.#blank();
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #take(char: string): void {
    if (!this.#has(char)) throw new SyntaxError(`expected ${char}`);
  }

  #blank(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }
}
