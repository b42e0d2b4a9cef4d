import type { JsonValue } from '../../json/value.ts';
import { callJsonOf } from './call.ts';
import { pythonValue } from './pythonic.ts';

/** A parameter's text as the value that its schema asks for; text where no schema speaks of it, or where it is no such value. */
export function typedValue(text: string, type: string | null): JsonValue {
  if (type === null || /^(?:string|str|text|varchar|char|enum)/i.test(type)) return text;
  const lower = text.trim().toLowerCase();
  if (lower === 'null' || lower === 'none') return null;
  if (/^bool/i.test(type)) return lower === 'true' ? true : lower === 'false' ? false : text;
  const read = callJsonOf(text.trim());
  if (!('error' in read)) return read.value;
  // A model that thinks in Python writes `[1, 'x', None]`.
  return /^(?:list|array|dict|object)/i.test(type) ? (pythonValue(text.trim()) ?? text) : text;
}
