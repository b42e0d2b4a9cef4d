import { pythonFloat, pythonString } from '../tools/python.ts';

/** `str()` of a value, as Tunix makes text of what is none. A number without a fraction is an int: JavaScript does not tell 2.0 from 2. */
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

/** `json.dumps` with its default separators; characters beyond ASCII are escaped, as there. */
export function pythonJson(value: unknown, indent: number | null = null, level = 0): string {
  if (value === undefined) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value))
    return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') {
    const text = JSON.stringify(value);
    return indent === null ? escapeUnicode(text) : text;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((one) => pythonJson(one, indent, level + 1))
    : Object.entries(value).map(
        ([key, one]) => `${pythonJson(key, indent, level + 1)}: ${pythonJson(one, indent, level + 1)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return `${open}${close}`;
  if (indent === null) return `${open}${parts.join(', ')}${close}`;
  const inner = `\n${' '.repeat(indent * (level + 1))}`;
  return `${open}${inner}${parts.join(`,${inner}`)}\n${' '.repeat(indent * level)}${close}`;
}

const escapeUnicode = (text: string): string =>
  text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
