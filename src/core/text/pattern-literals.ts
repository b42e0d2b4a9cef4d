/**
 * The literals of a pattern: every match contains at least one of them. Letters are folded by `folded`.
 * @returns null if the pattern has none, or a form that this reader does not know
 */
export function literalsOf({ source, flags }: RegExp): readonly string[] | null {
  // With `u` and `i`, letters beyond ASCII match letters of ASCII.
  if (flags.includes('v') || (flags.includes('u') && flags.includes('i'))) return null;
  const reader = new PatternReader(source);
  const whole = reader.alternatives();
  return reader.isDone ? sureOf(whole) : null;
}

/** A bit that upper and lower case of a letter differ in; other characters may fall together, too. */
export const folded = (code: number): number => (code < 128 ? code | 32 : code);

/** A part of a pattern. */
interface Piece {
  /** All texts that it matches, folded; null if they are many. */
  all: readonly string[] | null;
  /** Any match contains one of these; null if unknown. */
  sure: readonly string[] | null;
}

/** Shorter literals occur in any text. */
export const SHORTEST_LITERAL = 3;
const MOST = 64;
const ANYTHING: Piece = { all: null, sure: null };
const NOTHING: Piece = { all: [''], sure: null };

const isUseful = (texts: readonly string[] | null): texts is readonly string[] =>
  texts !== null && texts.length > 0 && leastLength(texts) >= SHORTEST_LITERAL;

const leastLength = (texts: readonly string[]): number => Math.min(...texts.map(({ length }) => length));

/** The better of two sets: long literals first, then few. */
function better(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (!isUseful(b)) return a;
  if (a === null) return b;
  const [first, second] = [Math.min(leastLength(a), 6), Math.min(leastLength(b), 6)];
  return second > first || (second === first && b.length < a.length) ? b : a;
}

const sureOf = ({ all, sure }: Piece): readonly string[] | null => better(sure, all);

function sequenceOf(pieces: readonly Piece[]): Piece {
  let texts: readonly string[] = [''];
  let isAll = true;
  let sure: readonly string[] | null = null;
  for (const piece of pieces) {
    sure = better(sure, piece.sure);
    if (piece.all !== null && texts.length * piece.all.length <= MOST) {
      const ends = piece.all;
      texts = texts.flatMap((text) => ends.map((end) => text + end));
      continue;
    }
    sure = better(sure, texts);
    isAll = false;
    texts = piece.all ?? [''];
  }
  sure = better(sure, texts);
  return { all: isAll ? texts : null, sure };
}

function either(pieces: readonly Piece[]): Piece {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const all = pieces.flatMap((piece) => piece.all ?? []);
  const sure = pieces.map(sureOf);
  return {
    all: pieces.every((piece) => piece.all !== null) && all.length <= MOST ? all : null,
    sure: sure.every((texts) => texts !== null) ? sure.flat() : null,
  };
}

/** Reads the source of a pattern from left to right. */
class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  get isDone(): boolean {
    return this.#at === this.#source.length;
  }

  alternatives(): Piece {
    const pieces = [this.#sequence()];
    while (this.#takes('|')) pieces.push(this.#sequence());
    return either(pieces);
  }

  #sequence(): Piece {
    const pieces: Piece[] = [];
    while (!this.isDone && !'|)'.includes(this.#next)) pieces.push(this.#repeated(this.#atom()));
    return sequenceOf(pieces);
  }

  get #next(): string {
    return this.#source.charAt(this.#at);
  }

  #takes(word: string): boolean {
    if (!this.#source.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #repeated(piece: Piece): Piece {
    const [count = '', least] = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += count.length;
    if (count === '') return piece;
    if (count.startsWith('?')) return { all: piece.all === null ? null : [...piece.all, ''], sure: null };
    if (count.startsWith('*') || Number(least ?? 1) === 0) return ANYTHING;
    return { all: null, sure: sureOf(piece) };
  }

  #atom(): Piece {
    const character = this.#next;
    this.#at++;
    if (character === '^' || character === '$') return NOTHING;
    if (character === '.') return ANYTHING;
    if (character === '[') return this.#class();
    if (character === '(') return this.#group();
    if (character === '\\') return this.#escape();
    return only(character.charCodeAt(0));
  }

  #group(): Piece {
    const [opening = ''] = /^\?(?:[:=!]|<[=!]|<\w+>)/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += opening.length;
    const inner = this.alternatives();
    if (!this.#takes(')')) this.#at = Number.POSITIVE_INFINITY;
    // What a match looks at beside itself may lie outside of the searched text.
    return /[=!]/.test(opening) ? NOTHING : inner;
  }

  #escape(): Piece {
    const [hex = '', two, four] = /^(?:x([\da-f]{2})|u([\da-f]{4}))/i.exec(this.#source.slice(this.#at)) ?? [];
    if (hex !== '') {
      this.#at += hex.length;
      return only(Number.parseInt(two ?? four ?? '', 16));
    }
    const character = this.#next;
    this.#at++;
    if ('bB'.includes(character)) return NOTHING;
    const control = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0 }[character];
    if (control !== undefined) return only(control);
    if (character === 'p' || character === 'P' || character === 'k')
      this.#at += /^(?:\{[^}]*\}|<\w+>)?/.exec(this.#source.slice(this.#at))?.[0].length ?? 0;
    return /\w/.test(character) ? ANYTHING : only(character.charCodeAt(0));
  }

  #class(): Piece {
    const [body = ''] = /^(?:[^\]\\]|\\.)*\]/.exec(this.#source.slice(this.#at)) ?? [];
    this.#at += body === '' ? Number.POSITIVE_INFINITY : body.length;
    const inside = body.slice(0, -1);
    // A class of a few characters that stand for themselves.
    if (!/^(?!\^)(?:[^\\-]|\\[^\w])+-?$/.test(inside)) return ANYTHING;
    const pieces = [...new Set(inside.replace(/\\(.)/g, '$1'))].map((character) => only(character.charCodeAt(0)));
    return pieces.length <= 6 ? either(pieces) : ANYTHING;
  }
}

/** Characters beyond ASCII differ in case by other rules. */
const only = (code: number): Piece =>
  code < 128 ? { all: [String.fromCharCode(folded(code))], sure: null } : ANYTHING;
