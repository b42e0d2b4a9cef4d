import type { JsonValue } from '../json/value.ts';
import { plainJson } from '../json/value.ts';

/** Longer texts that are cut are not mended. */
const MOST = 64 << 20;

/**
 * The value of a JSON text that was cut off at some length: what was whole, and the string that the cut fell into as far as it goes.
 * undefined if nothing can be said.
 */
export function mendedJson(text: string): JsonValue | undefined {
  if (text.length > MOST || !/^\s*[[{]/.test(text)) return undefined;
  const open: string[] = [];
  let safe = { at: 0, closers: '' };
  let isInString = false;
  let isValue = false;
  const closers = (): string => [...open].reverse().join('');
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isInString) {
      if (sign === '\\') at++;
      else if (sign === '"') {
        isInString = false;
        if (isValue || open.at(-1) === ']') safe = { at: at + 1, closers: closers() };
      }
    } else if (sign === '"') isInString = true;
    else if (sign === '[' || sign === '{') {
      open.push(sign === '[' ? ']' : '}');
      isValue = false;
      safe = { at: at + 1, closers: closers() };
    } else if (sign === ']' || sign === '}') {
      open.pop();
      safe = { at: at + 1, closers: closers() };
      if (open.length === 0) break;
    } else if (sign === ':') isValue = true;
    else if (sign === ',') {
      safe = { at, closers: closers() };
      isValue = false;
    }
  }
  const inString =
    isInString && (isValue || open.at(-1) === ']')
      ? `${text.replace(/\\(?:u[0-9a-f]{0,3})?$/i, '')}"${closers()}`
      : null;
  for (const one of [inString, `${text.slice(0, safe.at)}${safe.closers}`]) {
    if (one === null) continue;
    try {
      return plainJson(one);
    } catch {}
  }
  return undefined;
}
