/** A JSON value from a dump. A bigint is an integer beyond 2^53, with all digits; NaN and ±Infinity are numbers. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** JSON.parse, for a text without NaN or integers beyond 2^53. @throws SyntaxError */
export const plainJson = (text: string): JsonValue => JSON.parse(text);

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with keys whose values are all null or empty: it decides nothing about its neighbours. */
export const hasNoValue = (value: JsonValue | undefined): boolean =>
  isJsonObject(value) &&
  Object.keys(value).length > 0 &&
  Object.values(value).every((one) => one === null || (typeof one === 'object' && Object.keys(one).length === 0));

/** A value that should be text; '' for any other. */
export const stringIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** A value that should be a list; an empty one for any other. */
export const listIn = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);

/** A value that should be an object; an empty one for any other. */
export const objectIn = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The keys of a table that is written out in the code, so that it has no others. */
export const keysIn = <T extends object>(table: T): (keyof T & string)[] =>
  Object.keys(table).filter((key): key is keyof T & string => key in table);
