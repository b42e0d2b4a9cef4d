import { JsonError, parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { TypeOf } from './calls/call.ts';

/**
 * The tool schemas that Qwen's template lists between `<tools>` tags, one JSON value per line; lines that are not JSON
 * are skipped.
 */
export function readToolSchemas(systemText: string): readonly JsonValue[] {
  // The template's sentence about "<tools></tools> XML tags" also names the tags; the list itself starts on a new line.
  const open = systemText.indexOf('<tools>\n');
  const close = systemText.indexOf('\n</tools>', open);
  if (open === -1 || close === -1) return [];
  const text = systemText.slice(open + '<tools>\n'.length, close);
  if (last.text !== text) last = { text, schemas: schemasIn(text) };
  return last.schemas;
}

/** Most rollouts of a file have the same tools. */
let last: { text: string; schemas: readonly JsonValue[] } = { text: '', schemas: [] };

function schemasIn(text: string): JsonValue[] {
  const schemas: JsonValue[] = [];
  for (const line of text.split('\n')) {
    try {
      if (line.trim() !== '') schemas.push(parseJson(line.replace(/^<tool>|<\/tool>$/g, '')));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
    }
  }
  return schemas;
}

/**
 * The type of a parameter by the schemas. A schema is the bare function, or wrapped as `{type: 'function', function}`.
 */
export function typesOf(schemas: readonly JsonValue[]): TypeOf {
  if (schemas.length === 0) return () => null;
  const tools = new Map<string, JsonObject>();
  for (const schema of schemas) {
    if (!isJsonObject(schema)) continue;
    const own = isJsonObject(schema.function) ? schema.function : schema;
    const properties = isJsonObject(own.parameters) ? own.parameters.properties : undefined;
    if (typeof own.name === 'string' && isJsonObject(properties)) tools.set(own.name, properties);
  }
  return (tool, parameter) => {
    const given = tools.get(tool)?.[parameter];
    return isJsonObject(given) && typeof given.type === 'string' ? given.type : null;
  };
}
