import { type JsonObject, type JsonValue, objectIn } from '../../../core/json/value.ts';

/** The arguments of a call as an object; empty if they are anything else. */
export const argumentsOf = (value: JsonValue | null | undefined): JsonObject => objectIn(value);

/** The value of the first of these keys that holds a text. */
export function textAt(args: JsonObject, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const value = args[key];
    if (typeof value === 'string') return value;
  }
  return null;
}

/** A number, including one that the model wrote as text. */
export function numericAt(args: JsonObject, ...keys: readonly string[]): number | null {
  for (const key of keys) {
    const value = args[key];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
  }
  return null;
}

export const isTrue = (value: JsonValue | undefined): boolean => value === true || value === 'true' || value === 'True';
