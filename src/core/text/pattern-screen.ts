import { uint8At } from '../lists/at.ts';
import { folded, SHORTEST_LITERAL } from './pattern-literals.ts';

const GRAM = SHORTEST_LITERAL;
const HASH_BITS = 15;
/** The golden ratio of 2^32. */
const SPREAD = 0x9e3779b1;
/** Letters from frequent to rare; a part of a literal with rare ones occurs in fewer texts. */
const FREQUENT = ' etaoinsrhldcumfpgwybvkxjqz';
/** Longer texts are rare, and reading them twice costs more than it saves. */
const LONGEST = 1 << 13;

/** A literal of a pattern, found by three of its characters. */
interface Literal {
  text: string;
  /** Characters up to and with the last of the three. */
  hashed: number;
  pattern: number;
}

/**
 * Tells by one pass over a text which of many patterns can match in it: a pattern whose literals the text lacks cannot. The
 * pass looks for three characters of each literal, and compares the whole literal there.
 */
export class PatternScreen {
  readonly #all: readonly number[];
  /** Patterns without literals may match anything. */
  readonly #always: readonly number[];
  /** A bit for each hash that occurs: small enough to stay in the processor's nearest cache. */
  readonly #bits = new Uint8Array(1 << (HASH_BITS - 3));
  readonly #literals = new Map<number, Literal[]>();

  /** @param literals those of each pattern, by `literalsOf` */
  constructor(literals: readonly (readonly string[] | null)[]) {
    this.#all = literals.map((_, i) => i);
    this.#always = this.#all.filter((i) => literals[i] === null);
    for (const [i, texts] of literals.entries()) for (const text of new Set(texts)) this.#add(text, i);
  }

  #add(text: string, pattern: number): void {
    let hashed = GRAM;
    let rare = 0;
    for (let i = 0; i < GRAM; i++) rare += rarity(text.charCodeAt(i));
    let rarest = rare;
    for (let end = GRAM + 1; end <= text.length; end++) {
      rare += rarity(text.charCodeAt(end - 1)) - rarity(text.charCodeAt(end - 1 - GRAM));
      if (rare <= rarest) continue;
      hashed = end;
      rarest = rare;
    }
    let gram = 0;
    for (let i = hashed - GRAM; i < hashed; i++) gram = (gram << 8) | text.charCodeAt(i);
    const hash = Math.imul(gram, SPREAD) >>> (32 - HASH_BITS);
    this.#bits[hash >>> 3] = uint8At(this.#bits, hash >>> 3) | (1 << (hash & 7));
    const known = this.#literals.get(gram);
    if (known === undefined) this.#literals.set(gram, [{ text, hashed, pattern }]);
    else known.push({ text, hashed, pattern });
  }

  /** @returns the numbers of the patterns that may match in the text or in any part of it, in their order */
  candidates(text: string): readonly number[] {
    if (text.length > LONGEST) return this.#all;
    const bits = this.#bits;
    let found: Set<number> | null = null;
    let gram = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      gram = ((gram << 8) | ((code < 128 ? code | 32 : code) & 0xff)) & 0xffffff;
      const hash = Math.imul(gram, SPREAD) >>> (32 - HASH_BITS);
      if (((uint8At(bits, hash >>> 3) >> (hash & 7)) & 1) === 0) continue;
      for (const literal of this.#literals.get(gram) ?? [])
        if (isAt(text, i + 1 - literal.hashed, literal.text)) {
          found ??= new Set(this.#always);
          found.add(literal.pattern);
        }
    }
    return found === null ? this.#always : [...found].sort((a, b) => a - b);
  }
}

function isAt(text: string, from: number, literal: string): boolean {
  if (from < 0 || from + literal.length > text.length) return false;
  for (let i = 0; i < literal.length; i++)
    if (folded(text.charCodeAt(from + i)) !== literal.charCodeAt(i)) return false;
  return true;
}

const RARITIES = new Uint8Array(128).fill(FREQUENT.length);
for (const [place, character] of [...FREQUENT].entries()) RARITIES[character.charCodeAt(0)] = place;

/** Characters outside of the list are the rarest. */
const rarity = (code: number): number => RARITIES[code] ?? FREQUENT.length;
