import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';

/** The objects of a list; empty for anything else. */
export const jsonObjects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

export const textOrNull = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** All keys of a request except those stored elsewhere. */
export const settingsBeside = (body: JsonObject, known: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([key]) => !known.includes(key)));

/** The value with the keys of its objects in one order, so that equal objects print alike. */
export function withSortedKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, withSortedKeys(one)]),
  );
}
