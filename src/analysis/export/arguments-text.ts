import { printJson } from '../../core/json/print.ts';
import type { JsonValue } from '../../core/json/value.ts';

/** Arguments that a record holds as a value, as Python and chat templates print them: `{"a": [1, 2]}`, nothing escaped. */
export function argumentsText(value: JsonValue): string {
  try {
    return spaced(value);
  } catch (error) {
    // The nesting is too deep for Node's recursion.
    if (error instanceof RangeError) return printJson(value);
    throw error;
  }
}

function spaced(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${spaced(one)}`)
    .join(', ')}}`;
}
