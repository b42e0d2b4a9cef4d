import { isJsonObject, type JsonObject, type JsonValue, plainJson } from '../json/value.ts';

/** A recorded number: a number, or its string form (`json.dumps(default=str)` wrote numpy values so). Else null. */
export function numberOf(value: JsonValue | undefined): number | null {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = NAMED[value.trim().toLowerCase()] ?? Number(value);
  return Number.isNaN(number) && !/^nan$/i.test(value.trim()) ? null : number;
}

/** A recorded reward: also right or wrong. */
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

/** A JSON text's value; undefined for any other text. */
export function parsed(text: string): JsonValue | undefined {
  try {
    return plainJson(text);
  } catch {
    return undefined;
  }
}

export const objectsOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** One number or null per entry; null if it is not such a list. */
export function numbersOf(value: JsonValue | undefined): (number | null)[] | null {
  if (!Array.isArray(value)) return null;
  return value.every((one) => one === null || typeof one === 'number' || typeof one === 'boolean' || isNotFinite(one))
    ? value.map((one) => (typeof one === 'boolean' ? Number(one) : numberOf(one)))
    : null;
}

/** JSON lacks these numbers, so writers use strings. */
const isNotFinite = (value: JsonValue): boolean => value === 'NaN' || value === 'Infinity' || value === '-Infinity';

/** Token ids, or their mask; null if they are invalid, and for an empty list, which records nothing. */
export function idsOf(value: JsonValue | undefined): number[] | null {
  const numbers = numbersOf(value);
  return numbers === null || numbers.length === 0 || numbers.some((one) => one === null) ? null : (numbers as number[]);
}

/** Named numbers of an object. */
export function namedNumbers(value: JsonValue | undefined): Record<string, number | null> | null {
  if (!isJsonObject(value)) return null;
  const named = Object.entries(value).flatMap(([key, one]): [string, number | null][] => {
    const number = typeof one === 'boolean' ? Number(one) : numberOf(one);
    return number !== null || one === null ? [[key, number]] : [];
  });
  return named.length === 0 ? null : Object.fromEntries(named);
}
