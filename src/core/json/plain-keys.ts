import type { JsonObject, JsonValue } from './value.ts';

/** The keys whose values differ from those of `plain`. */
export function withoutPlain(value: JsonObject, plain: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const key of Object.keys(value)) if (!isPlainValue(value[key], plain[key])) kept[key] = value[key]!;
  return kept;
}

/** Whether a value is the plain one of its key, which need not be written. Empty lists and objects equal each other. */
export function isPlainValue(value: JsonValue | undefined, plain: JsonValue | undefined): boolean {
  if (typeof plain !== 'object' || plain === null) return value === plain;
  return (
    typeof value === 'object' &&
    value !== null &&
    Array.isArray(value) === Array.isArray(plain) &&
    Object.keys(value).length === 0
  );
}
