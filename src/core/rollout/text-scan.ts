import { int32At, itemAt, numberInAt, uint16At, uint32At } from '../lists/at.ts';
import type { Rollout, Turn } from './rollout.ts';
import { SCRIPT_OF, SCRIPTS } from './scripts.ts';

/** The result of one pass over the text that the model wrote in a response. */
export interface TextScan {
  words: number;
  /** The share of its eight-word runs that it had written before: repeated lines, phrases in a loop. */
  repetition: number;
  /** A hash of its first words: equal for rollouts that begin alike. 24 bits. */
  opening: number;
  /** A hash of all its three-word runs: near copies differ in one or two of 24 bits. */
  gist: number;
  /** Counts of letters by SCRIPTS. */
  letters: Int32Array;
}

/** Words of a run that counts as repeated. */
const RUN = 8;
/** Words of an opening. */
const OPENING = 8;
/** Longer words are cut: `aaaa…` repeats itself. */
const LONGEST_WORD = 16;
/** A text with more runs is sampled, choosing runs by their words. */
const MOST_RUNS = 1 << 18;
const BITS = 24;
const BLANK = 32;
const BASE = 0x01000193;
/** The golden ratio of 2^32. */
const SPREAD = 0x9e3779b1;
const BASE_RUN = power(BASE, RUN);

function power(base: number, exponent: number): number {
  let result = 1;
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base);
  return result;
}

/** Mixes the bits of a number (Murmur3's last step). */
function mixed(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A set of hashes in one array, cleared for each text. */
let table = new Uint32Array(1 << 10);
const lastWords = new Int32Array(RUN);
const least = new Uint32Array(BITS);

/**
 * The UTF-16 units of the scanned text: an array is read several times faster than a string. A longer text is scanned
 * in pieces.
 */
const PIECE = 1 << 14;
const bytes = Buffer.alloc(PIECE * 2);
const units = new Uint16Array(bytes.buffer, bytes.byteOffset, PIECE);

let known: { turns: readonly Turn[]; scan: TextScan } | null = null;

/** Caches the last scan, because checks and facts ask for the same rollout in succession. */
export function textScan({ turns, responseTurn }: Pick<Rollout, 'turns' | 'responseTurn'>): TextScan {
  if (known?.turns !== turns) {
    const texts: string[] = [];
    for (let i = responseTurn; i < turns.length; i++) if (isModels(itemAt(turns, i))) texts.push(itemAt(turns, i).text);
    known = { turns, scan: scanTexts(texts) };
  }
  return known.scan;
}

/** Some writers make a reply that consists of calls a separate turn. */
export const isModels = ({ role }: Turn): boolean => role === 'assistant' || role === 'function_call';

/** @param texts of the model, turn by turn */
export function scanTexts(texts: readonly string[]): TextScan {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  // A text in a script without blanks may have a word per character.
  let size = 64;
  while (size < length && size < MOST_RUNS * 2) size *= 2;
  if (table.length < size) table = new Uint32Array(size);
  else table.fill(0, 0, size);
  // If a text has more runs than the table holds, only runs with a hash below the limit are examined.
  const isSampled = length > MOST_RUNS;
  const limit = (MOST_RUNS / length) * 2 ** 32;
  least.fill(0xffffffff);
  lastWords.fill(0);
  const letters = new Int32Array(SCRIPTS.length);
  let latin = 0;
  let words = 0;
  let runs = 0;
  let repeated = 0;
  let run = 0;
  let opening = 0;
  let before = 0;
  let lastTwo = 0;
  // A single loop without calls, because it sees every character of a million rollouts.
  for (const text of texts) {
    let word = 0;
    let characters = 0;
    for (let start = 0; start <= text.length; start += PIECE) {
      const count = Math.min(PIECE, text.length - start);
      bytes.write(text.length <= PIECE ? text : text.slice(start, start + count), 'utf16le');
      // A text ends like a word, with a blank.
      const end = start + count === text.length ? count + 1 : count;
      for (let i = 0; i < end; i++) {
        const code = i === count ? BLANK : uint16At(units, i);
        if (code > BLANK) {
          word = (Math.imul(word, BASE) + code) | 0;
          characters++;
          if (code < 128) {
            const letter = code | 32;
            if (letter > 96 && letter < 123) latin++;
            if (characters < LONGEST_WORD) continue;
          } else {
            const script = numberInAt(SCRIPT_OF, code);
            if (script >= 0) letters[script] = int32At(letters, script) + 1;
            // Scripts from here on have no blanks between words.
            if (characters < LONGEST_WORD && (script < 0 || code < 0x3041)) continue;
          }
        } else if (characters === 0) continue;
        const slot = words & (RUN - 1);
        run = (Math.imul(run, BASE) + word - Math.imul(int32At(lastWords, slot), BASE_RUN)) | 0;
        lastWords[slot] = word;
        words++;
        if (words <= OPENING) opening = run;
        if (words >= 3) {
          const three = Math.imul(Math.imul(lastTwo, BASE) + word, SPREAD) >>> 0;
          const bin = ((three & 0xffff) * BITS) >>> 16;
          if (three < uint32At(least, bin)) least[bin] = three;
        }
        lastTwo = (Math.imul(before, BASE) + word) | 0;
        before = word;
        word = 0;
        characters = 0;
        if (words < RUN) continue;
        const hash = Math.imul(run ^ (run >>> 15), SPREAD) >>> 0 || 1;
        if (isSampled && hash >= limit) continue;
        runs++;
        let at = (hash >>> 7) & (size - 1);
        while (table[at] !== 0 && table[at] !== hash) at = (at + 1) & (size - 1);
        if (table[at] === hash) repeated++;
        else table[at] = hash;
      }
    }
  }
  letters[0] = int32At(letters, 0) + latin;
  return {
    words,
    repetition: runs === 0 ? 0 : repeated / runs,
    opening: words === 0 ? 0 : mixed(opening) >>> (32 - BITS),
    gist: gistOf(words < 3 ? run : null),
    letters,
  };
}

/**
 * One bit of the smallest hash of each bin (b-bit minwise hashing, Li and König 2010); an empty bin takes the next
 * one's.
 */
function gistOf(alone: number | null): number {
  if (alone !== null) return mixed(alone) >>> (32 - BITS);
  let gist = 0;
  for (let bin = 0; bin < BITS; bin++) {
    let from = bin;
    while (least[from] === 0xffffffff) from = (from + 1) % BITS;
    // Bins are chosen by the remainder, so take a different bit.
    gist |= ((mixed(uint32At(least, from) + (from === bin ? 0 : bin)) >>> 7) & 1) << bin;
  }
  return gist;
}

/**
 * Whether texts with these gists are near copies: one of their bits differs at the most. Of pairs of unrelated texts, three in two
 * million are as close.
 */
export function areNear(gist: number, other: number): boolean {
  const bits = gist ^ other;
  return (bits & (bits - 1)) === 0;
}
