import type { Role } from '../rollout/rollout.ts';
import { type HeaderRule, roleOf, type Shape } from './template.ts';

/** A place where a header may be. Offsets are UTF-16 units. */
export interface Header {
  role: Role;
  rule: HeaderRule;
  /** The start of the previous turn's end marker, if the template writes one; else equals `start`. */
  endStart: number;
  start: number;
  /** The start of the turn's text. */
  bodyStart: number;
  /** The start of the closing tag of a result, if one comes right before. */
  resultEnd: number | null;
}

interface Compiled {
  rules: readonly { rule: HeaderRule; pattern: RegExp }[];
  /** Every text that starts a rule, without duplicates. */
  begins: readonly string[];
  end: RegExp;
  resultEnd: RegExp | null;
}

const compiled = new WeakMap<Shape, Compiled>();

function compile(shape: Shape): Compiled {
  const known = compiled.get(shape);
  if (known !== undefined) return known;
  const made: Compiled = {
    rules: shape.headers.map((rule) => ({
      rule,
      pattern: new RegExp(rule.open, rule.begins === undefined ? 'g' : 'y'),
    })),
    begins: [...new Set(shape.headers.flatMap(({ begins = [] }) => begins))],
    end: new RegExp(`(?:${shape.end})$`),
    resultEnd: shape.resultEnd === undefined ? null : new RegExp(`(?:${shape.resultEnd})$`),
  };
  compiled.set(shape, made);
  return made;
}

/** An end marker or a closing tag is no longer than this; padding after a turn is one token repeated. */
const MAX_END = 512;

/**
 * The places from … to at which the shape's headers may be, in order, without overlap; if two rules fit, the earlier
 * one.
 */
export function scanHeaders(shape: Shape, text: string, from: number, to: number): Header[] {
  const { rules, begins } = compile(shape);
  const within = to === text.length ? text : text.slice(0, to);
  const places = wordPlaces(begins, within, from);
  const found: { start: number; length: number; order: number; role: Role; rule: HeaderRule }[] = [];
  for (const [order, { rule, pattern }] of rules.entries()) {
    for (const match of matchesOf(pattern, within, from, rule.begins, places)) {
      found.push({
        start: match.index,
        length: match[0].length,
        order,
        role: rule.role ?? roleOf((match[1] ?? '').trim() || 'assistant'),
        rule,
      });
    }
  }
  if (found.length === 0) return [];
  found.sort((a, b) => a.start - b.start || a.order - b.order);
  const headers: Header[] = [];
  for (const { start, length, role, rule } of found) {
    const last = headers.at(-1);
    if (last !== undefined && (start < last.bodyStart || (start === last.start && length === 0))) continue;
    const low = Math.max(from, last?.bodyStart ?? from);
    const endStart = endBefore(shape, within, start, low);
    headers.push({
      role,
      rule,
      endStart,
      start,
      bodyStart: start + length,
      resultEnd: resultBefore(shape, within, endStart, low),
    });
  }
  return headers;
}

/**
 * A reply reduced to its header, between the model's text and the answer to it: both headers count as one.
 * Only where special tokens are gone; there they may be words, so the border is inferred.
 */
export function withoutEmptyReplies(headers: readonly Header[], text: string, from: number): Header[] {
  const kept: Header[] = [];
  for (const header of headers) {
    const empty = kept.at(-1);
    const before = kept.at(-2);
    const isAfterReply = before === undefined || before.role === 'assistant';
    const isEmpty =
      empty?.role === 'assistant' &&
      (header.role === 'tool' || header.role === 'user') &&
      text.slice(empty.bodyStart, header.start).trim() === '' &&
      text.slice(before?.bodyStart ?? from, empty.start).trim() !== '';
    if (!isEmpty || !isAfterReply) {
      kept.push(header);
      continue;
    }
    const { rule, role, bodyStart } = header;
    const weight = role === 'tool' ? { weight: CERTAINLY } : {};
    kept.splice(-1, 1, { ...empty, role, bodyStart, rule: { ...rule, weak: true, ...weight } });
  }
  return kept;
}

/** The weight of a header that nothing but a result explains. */
const CERTAINLY = 5;

const NOWHERE: readonly number[] = [];

/**
 * The positions of each word. Words that end a line are searched for at line ends: there are fewer lines than letters.
 */
function wordPlaces(words: readonly string[], text: string, from: number): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  const add = (word: string, at: number): void => {
    const known = places.get(word);
    if (known === undefined) places.set(word, [at]);
    else known.push(at);
  };
  const atEnds = words.filter((word) => word.endsWith('\n'));
  for (const word of words)
    if (!word.endsWith('\n'))
      for (let at = text.indexOf(word, from); at !== -1; at = text.indexOf(word, at + 1)) add(word, at);
  if (atEnds.length === 0) return places;
  for (let end = text.indexOf('\n', from); end !== -1; end = text.indexOf('\n', end + 1))
    for (const word of atEnds) {
      const at = end + 1 - word.length;
      if (at >= from && text.startsWith(word, at)) add(word, at);
    }
  for (const word of atEnds) {
    const at = text.length + 1 - word.length;
    if (at >= from && text.startsWith(word.slice(0, -1), at)) add(word, at);
  }
  return places;
}

/**
 * The matches of a rule, in order, not nested. Words are found far faster than patterns, and most texts contain none of
 * them.
 */
function matchesOf(
  pattern: RegExp,
  text: string,
  from: number,
  begins: readonly string[] | undefined,
  places: ReadonlyMap<string, readonly number[]>,
): readonly RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  if (begins === undefined) {
    pattern.lastIndex = from;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      if (match[0].length === 0) pattern.lastIndex++;
      matches.push(match);
    }
    return matches;
  }
  let candidates = NOWHERE;
  for (const word of begins) {
    const own = places.get(word);
    if (own !== undefined) candidates = candidates.length === 0 ? own : [...candidates, ...own].sort((a, b) => a - b);
  }
  let free = from;
  for (const at of candidates) {
    if (at < free) continue;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    free = at + match[0].length;
    matches.push(match);
  }
  return matches;
}

/** The start of the end marker that ends at `at`. */
export function endBefore(shape: Shape, text: string, at: number, from: number): number {
  const low = Math.max(from, at - MAX_END);
  const match = compile(shape).end.exec(text.slice(low, at));
  return match === null ? at : low + match.index;
}

/** The start of the closing tag of a result that ends at `at`, or null. */
export function resultBefore(shape: Shape, text: string, at: number, from: number): number | null {
  const { resultEnd } = compile(shape);
  if (resultEnd === null) return null;
  const low = Math.max(from, at - MAX_END);
  const match = resultEnd.exec(text.slice(low, at));
  return match === null ? null : low + match.index;
}
