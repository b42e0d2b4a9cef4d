import { numberInAt } from '../lists/at.ts';

/** The position of a quote in a text. */
export interface QuotePlace {
  start: number;
  end: number;
}

/**
 * The position of words quoted by a report: verbatim, else with every run of blanks treated as one. null unless they
 * occur exactly once, because other quotes prove nothing.
 */
export function placeOfQuote(text: string, quote: string): QuotePlace | null {
  const wanted = quote.trim();
  if (wanted === '') return null;
  const at = text.indexOf(wanted);
  if (at !== -1) return text.indexOf(wanted, at + 1) === -1 ? { start: at, end: at + wanted.length } : null;
  const starts: number[] = [];
  let plain = '';
  for (const { 0: piece, index } of text.matchAll(/\s+|\S/g)) {
    starts.push(index);
    plain += /^\s/.test(piece) ? ' ' : piece;
  }
  const words = wanted.replace(/\s+/g, ' ');
  const found = plain.indexOf(words);
  if (found === -1 || plain.indexOf(words, found + 1) !== -1) return null;
  return { start: numberInAt(starts, found), end: starts[found + words.length] ?? text.trimEnd().length };
}
