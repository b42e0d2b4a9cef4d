import { parseJson } from '../../core/json/parse.ts';
import type { JsonValue } from '../../core/json/value.ts';

/** The JSON of a service's answer. @throws Error showing what came instead: a gateway's page, or nothing */
export function jsonAnswer(status: number, text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    const shown = text.trim().slice(0, 200);
    const problem = shown === '' ? `the answer is empty (HTTP ${status})` : `the answer is not JSON: ${shown}`;
    throw new Error(problem, { cause: error });
  }
}
