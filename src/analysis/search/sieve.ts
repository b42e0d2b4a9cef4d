import { LITERAL } from '../text-search.ts';

/** Every line with a hit contains at least one of these byte strings, so most lines need no parse. */
export interface Sieve {
  needles: readonly string[];
  ignoresCase: boolean;
}

/** A shorter piece occurs in nearly every line. */
const SHORTEST = 2;
/** Characters that JSON writes unescaped, and that nobody escapes. */
const PLAIN = /[A-Za-z0-9_ ]+/g;

/**
 * A quick test that lets a search skip a line; null if only a parse can decide. The longest plain piece of the searched
 * text is halved: if a format joins a text from two parts of the record, one of the halves lies within one of the
 * parts.
 */
export function sieveOf(value: string): Sieve | null {
  const isLiteral = value.startsWith(LITERAL);
  const text = isLiteral ? value.slice(LITERAL.length) : value;
  const ignoresCase = !/\p{Lu}/u.test(isLiteral ? text : text.replace(/\\./g, ''));
  const parts = isLiteral ? [text] : requiredParts(text);
  // Ignoring case, the Kelvin sign equals k, and for a pattern ſ equals s.
  const folded = isLiteral || !/[\\^$.|?*+()[\]{}]/.test(text) ? /k/i : /[sk]/i;
  const runs = parts
    .flatMap((part) => part.match(PLAIN) ?? [])
    .flatMap((run) => (ignoresCase ? run.split(folded) : run));
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '');
  if (longest.length < SHORTEST * 2) return null;
  const middle = longest.length >> 1;
  const needles = [longest.slice(0, middle), longest.slice(middle)];
  return { needles, ignoresCase };
}

/** Pieces that every match of a pattern contains literally; empty if it has alternatives or groups. */
function requiredParts(pattern: string): string[] {
  if (/[|()[\]{}]|\\[pPQEx]/.test(pattern)) return [];
  // An escaped letter is a class or a boundary; a character before ? or * is optional.
  return pattern
    .replace(/\\[A-Za-z0-9]/g, '\0')
    .replace(/\\(.)/g, '\0')
    .replace(/.[?*]\??/gs, '\0')
    .split(/[\0.^$+]/);
}

/** JSON may write a plain character as such an escape: then only a parse can decide. */
export const ESCAPED = '\\u00';
