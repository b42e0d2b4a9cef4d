import type { JsonValue } from '../json/value.ts';

/** A number as writers record it: a number, or the string of one (`json.dumps(default=str)` wrote numpy values so). Else null. */
export function numberOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = NAMED[value.trim().toLowerCase()] ?? Number(value);
  return Number.isNaN(number) && !/^nan$/i.test(value.trim()) ? null : number;
}

/** A reward as writers record it: also as right or wrong. */
export const recordedReward = (value: JsonValue | undefined): number | null =>
  typeof value === 'boolean' ? Number(value) : numberOf(value);

const NAMED: Record<string, number> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
};

/** An identifier: a string, or a number that a writer did not quote. Else null. */
export const idOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'bigint' ? String(value) : null;
