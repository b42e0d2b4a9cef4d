import type { Role } from '../rollout/rollout.ts';
import { type HeaderRule, roleOf, type Shape } from './template.ts';

/** A place where a header may stand. Offsets are UTF-16 units. */
export interface Header {
  role: Role;
  rule: HeaderRule;
  /** The start of the end marker of the turn before, as far as the template writes one; equals `start` otherwise. */
  endStart: number;
  start: number;
  /** The start of the turn's text. */
  bodyStart: number;
  /** The start of the closing tag of a result, if one stands right before. */
  resultEnd: number | null;
}

interface Compiled {
  rules: readonly { rule: HeaderRule; pattern: RegExp }[];
  end: RegExp;
  resultEnd: RegExp | null;
}

const compiled = new WeakMap<Shape, Compiled>();

function compile(shape: Shape): Compiled {
  const known = compiled.get(shape);
  if (known !== undefined) return known;
  const made: Compiled = {
    rules: shape.headers.map((rule) => ({ rule, pattern: new RegExp(rule.open, 'g') })),
    end: new RegExp(`(?:${shape.end})$`),
    resultEnd: shape.resultEnd === undefined ? null : new RegExp(`(?:${shape.resultEnd})$`),
  };
  compiled.set(shape, made);
  return made;
}

/** An end, or a closing tag, is no longer than this; padding behind a turn is one token after the other. */
const MAX_END = 512;

/** The places in from … to where the shape's headers may stand, in order, without overlap; the earlier rule where two fit. */
export function scanHeaders(shape: Shape, text: string, from: number, to: number): Header[] {
  const { rules } = compile(shape);
  const within = to === text.length ? text : text.slice(0, to);
  const found: { start: number; length: number; order: number; role: Role; rule: HeaderRule }[] = [];
  for (const [order, { rule, pattern }] of rules.entries()) {
    pattern.lastIndex = from;
    for (let match = pattern.exec(within); match !== null; match = pattern.exec(within)) {
      const { index } = match;
      const length = match[0].length;
      if (length === 0) pattern.lastIndex++;
      found.push({
        start: index,
        length,
        order,
        role: rule.role ?? roleOf((match[1] ?? '').trim() || 'assistant'),
        rule,
      });
    }
  }
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

/** The start of the end marker that reaches up to `at`. */
export function endBefore(shape: Shape, text: string, at: number, from: number): number {
  const low = Math.max(from, at - MAX_END);
  const match = compile(shape).end.exec(text.slice(low, at));
  return match === null ? at : low + match.index;
}

/** The start of the closing tag of a result that reaches up to `at`; null where none stands there. */
export function resultBefore(shape: Shape, text: string, at: number, from: number): number | null {
  const { resultEnd } = compile(shape);
  if (resultEnd === null) return null;
  const low = Math.max(from, at - MAX_END);
  const match = resultEnd.exec(text.slice(low, at));
  return match === null ? null : low + match.index;
}
