import { JsonError, parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/value.ts';

/** The tool schemas that Qwen's template lists between `<tools>` tags, one JSON value a line; lines that are no JSON are left out. */
export function readToolSchemas(systemText: string): JsonValue[] {
  // The template's sentence about "<tools></tools> XML tags" names the tags too: the list starts on a line of its own.
  const open = systemText.indexOf('<tools>\n');
  const close = systemText.indexOf('\n</tools>', open);
  if (open === -1 || close === -1) return [];
  const schemas: JsonValue[] = [];
  for (const line of systemText.slice(open + '<tools>\n'.length, close).split('\n')) {
    try {
      if (line.trim() !== '') schemas.push(parseJson(line));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
    }
  }
  return schemas;
}
