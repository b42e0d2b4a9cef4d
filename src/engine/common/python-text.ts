import { pythonFloat, pythonString } from './python.ts';

/** `str()` of a value, as Tunix converts non-text. A number without a fraction prints as an int: JavaScript cannot distinguish 2.0 from 2. */
export function pythonText(value: unknown): string {
  return typeof value === 'string' ? value : pythonRepr(value);
}

function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'string') return pythonString(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : pythonFloat(value);
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`;
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([key, one]) => `${pythonString(key)}: ${pythonRepr(one)}`);
    return `{${entries.join(', ')}}`;
  }
  return String(value);
}
