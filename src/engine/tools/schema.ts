import { z } from 'zod';
import { parseJson } from '../../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';

/**
 * The schemas of verl `verl/tools/schemas.py`. Newer verl lets `type` be a list and `enum` hold anything, so both are taken.
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
  description: z.string(),
  parameters: ParametersSchema.default({ type: 'object', properties: {}, required: [] }),
  strict: z.boolean().default(false),
});

export const OpenAIFunctionToolSchema = z.object({ type: z.literal('function'), function: FunctionSchema });
export type OpenAIFunctionToolSchema = z.infer<typeof OpenAIFunctionToolSchema>;

/** A call whose arguments are decoded. `error` says why they are not an object; the arguments are then empty, as in verl. */
export interface FunctionCall {
  name: string;
  arguments: JsonObject;
  error: string | null;
}

/** `from_openai_function_parsed_schema` of verl, with the cause kept. */
export function decodeFunctionCall(name: string, text: string): FunctionCall {
  let value: JsonValue;
  try {
    // A model that calls a tool without parameters often writes nothing at all.
    value = text.trim() === '' ? {} : parseJson(text);
  } catch (error) {
    return { name, arguments: {}, error: (error as Error).message };
  }
  if (!isJsonObject(value)) {
    return { name, arguments: {}, error: `the arguments are ${describe(value)}, not an object` };
  }
  return { name, arguments: value, error: null };
}

const describe = (value: JsonValue): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
