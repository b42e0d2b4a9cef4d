import { hash } from 'node:crypto';
import { type Printable, printJson } from './print.ts';

/**
 * The inputs of a result, part by part: short parts verbatim, long ones as a hash. With equal parts the result can be
 * reused.
 */
export type Fingerprint = { readonly [part: string]: string };

/** A part up to this length is kept verbatim, so that changes can be shown. */
const WORDS = 80;

/** Undefined parts are left out, so that adding a part later does not invalidate older results. */
export function fingerprintOf(parts: { readonly [part: string]: Printable | undefined }): Fingerprint {
  const entries = Object.entries(parts).flatMap(([part, value]): [string, string][] => {
    if (value === undefined) return [];
    const text = typeof value === 'string' ? value : printJson(value);
    return [[part, text.length <= WORDS ? text : hashOf(text)]];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const hashOf = (text: string): string => hash('sha256', text).slice(0, 16);

/** The changed parts, one entry each: `python 3.11.2, was 3.8.18`. Empty if the result still holds. */
export function changesOf(before: Readonly<Record<string, unknown>>, now: Fingerprint): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((part) => {
    const [old, own] = [before[part], now[part]];
    if (old === own) return [];
    return [`${part} ${own ?? 'nothing'}, was ${typeof old === 'string' ? old : 'nothing'}`];
  });
}
