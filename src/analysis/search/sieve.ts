import { LITERAL } from '../text-search.ts';

/** Bytes of which one stands in every line with a hit, so that most lines need no parse. */
export interface Sieve {
  needles: readonly string[];
  ignoresCase: boolean;
}

/** So short a piece stands in nearly every line. */
const SHORTEST = 2;
/** Characters that JSON writes as they are, and that nobody escapes. */
const PLAIN = /[A-Za-z0-9_ ]+/g;

/**
 * A quick test by which a search passes over a line; null where only a parse tells. The longest plain piece of what is searched for is cut in
 * two: a text that a format puts together from two parts of the record holds one of the halves in one of the parts.
 */
export function sieveOf(value: string): Sieve | null {
  const isLiteral = value.startsWith(LITERAL);
  const text = isLiteral ? value.slice(LITERAL.length) : value;
  const ignoresCase = !/\p{Lu}/u.test(isLiteral ? text : text.replace(/\\./g, ''));
  const parts = isLiteral ? [text] : requiredParts(text);
  // The sign of the kelvin is a k where case does not count, and to a pattern ſ is an s.
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

/** Pieces of a pattern that every match holds word for word; none where it has alternatives or groups. */
function requiredParts(pattern: string): string[] {
  if (/[|()[\]{}]|\\[pPQEx]/.test(pattern)) return [];
  // An escaped letter is a class or a border; a character before ? or * need not be there.
  return pattern
    .replace(/\\[A-Za-z0-9]/g, '\0')
    .replace(/\\(.)/g, '\0')
    .replace(/.[?*]\??/gs, '\0')
    .split(/[\0.^$+]/);
}

/** Escapes that JSON may write in place of a plain character: then only a parse tells. */
export const ESCAPED = '\\u00';
