import { z } from 'zod';
import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';

/**
 * The schemas of verl `verl/tools/schemas.py`. Newer verl allows a list for `type` and anything in `enum`, so both are accepted.
 * Nested keys (`items`, `properties`) are kept, because the model's template and server read them; verl drops them.
 */
const PropertySchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().nullish(),
  enum: z.array(z.unknown()).nullable().default(null),
});

const ParametersSchema = z.looseObject({
  type: z.string(),
  properties: z.record(z.string(), PropertySchema),
  required: z.array(z.string()).default([]),
});

const FunctionSchema = z.object({
  name: z.string().min(1),
  description: z.string().default(''),
  parameters: ParametersSchema.default({ type: 'object', properties: {}, required: [] }),
  strict: z.boolean().default(false),
});

/** The schemas as written: unset keys are not shown to a model, and a user's schema may set a default explicitly. */
const written = new WeakMap<object, JsonObject>();

let beingRead: unknown;

export const OpenAIFunctionToolSchema = z
  .unknown()
  .transform((value) => {
    beingRead = value;
    return value;
  })
  .pipe(
    z.object({ type: z.literal('function'), function: FunctionSchema }).transform((schema) => {
      if (isJsonObject(beingRead as JsonValue)) written.set(schema, beingRead as JsonObject);
      return schema;
    }),
  );
export type OpenAIFunctionToolSchema = z.infer<typeof OpenAIFunctionToolSchema>;

const schemaEntries = (value: JsonValue | undefined): [string, JsonValue][] =>
  isJsonObject(value) ? Object.entries(value).filter((entry): entry is [string, JsonValue] => entry[1] !== null) : [];

/** The keys that are present and not null, in the order of `names`. */
const picked = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => (value[name] === undefined || value[name] === null ? [] : [[name, value[name]]])),
  );

/**
 * The schema as verl's chat templates see it (`model_dump(exclude_unset=True, exclude_none=True)` of its model classes): the keys that the
 * classes know, in their order, without `items` and other keys of a property.
 */
export const templateSchema = onceEach((schema: OpenAIFunctionToolSchema): JsonObject => {
  const given = written.get(schema) ?? withoutDefaults(schema);
  const fn = (given.function ?? {}) as JsonObject;
  const parameters = fn.parameters;
  const shown: JsonObject = picked(fn, ['name', 'description']);
  if (isJsonObject(parameters)) {
    const properties = schemaEntries(parameters.properties).map(([name, property]) => [
      name,
      isJsonObject(property) ? picked(property, ['type', 'description', 'enum']) : property,
    ]);
    shown.parameters = {
      ...picked(parameters, ['type']),
      ...(isJsonObject(parameters.properties) ? { properties: Object.fromEntries(properties) as JsonObject } : {}),
      ...picked(parameters, ['required']),
    };
  }
  return { type: 'function', function: { ...shown, ...picked(fn, ['strict']) } };
});

/** The schema as sent to a chat API: every written key, including nested ones, but no null (llama.cpp turns `enum: null` into an empty rule). */
export const wireSchema = onceEach(
  (schema: OpenAIFunctionToolSchema): JsonObject =>
    withoutNulls(written.get(schema) ?? withoutDefaults(schema)) as JsonObject,
);

/** Cached, since all rollouts show the same few schemas. */
function onceEach(show: (schema: OpenAIFunctionToolSchema) => JsonObject) {
  const shown = new WeakMap<object, JsonObject>();
  return (schema: OpenAIFunctionToolSchema): JsonObject => {
    let own = shown.get(schema);
    if (own === undefined) {
      own = show(schema);
      shown.set(schema, own);
    }
    return own;
  };
}

function withoutNulls(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    schemaEntries(value).map(([key, inner]) => [key, key === 'enum' ? inner : withoutNulls(inner)]),
  );
}

/** A built-in schema, without its defaults. */
function withoutDefaults(schema: OpenAIFunctionToolSchema): JsonObject {
  const { strict, ...fn } = schema.function;
  return { type: schema.type, function: strict ? { ...fn, strict } : fn } as unknown as JsonObject;
}

/** A call with decoded arguments. `error` says why they are not an object; the arguments are then empty, as in verl. */
export interface FunctionCall {
  name: string;
  arguments: JsonObject;
  /** The parsed value, object or not; undefined if it is not JSON. */
  value: JsonValue | undefined;
  error: string | null;
}

/** `from_openai_function_parsed_schema` of verl, but keeps the cause. */
export function decodeFunctionCall(name: string, text: string): FunctionCall {
  let value: JsonValue;
  try {
    // A model that calls a tool without parameters often writes nothing at all.
    value = text.trim() === '' ? {} : parseJson(text);
  } catch (error) {
    return { name, arguments: {}, value: undefined, error: errorMessage(error) };
  }
  if (!isJsonObject(value)) {
    return { name, arguments: {}, value, error: `the arguments are ${describe(value)}, not an object` };
  }
  return { name, arguments: value, value, error: null };
}

const describe = (value: JsonValue): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
