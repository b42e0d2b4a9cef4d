import type { JsonValue } from '../../core/json/value.ts';

/** Entries written between two pauses. */
const SHARE = 2000;

/** JSON as it was written: big integers keep their digits, NaN and ±Infinity their names. `indent` > 0 spreads it over lines. */
export function formatJson(value: JsonValue | undefined, indent = 0, depth = 0): string {
  if (value === undefined) return '';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  // Values nested deeper than anybody reads are cut, rather than overflow the stack.
  if (depth > 200) return '…';
  const items = Array.isArray(value)
    ? value.map((item) => formatJson(item, indent, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item, indent, depth + 1)}`);
  return joined(Array.isArray(value), items, indent, depth);
}

/** The same, with pauses if the value is long. */
export function* formattingJson(
  value: JsonValue,
  indent = 0,
  depth = 0,
  counted = { entries: 0 },
): Generator<void, string> {
  if (typeof value !== 'object' || value === null || depth > 200) return formatJson(value, indent, depth);
  const isArray = Array.isArray(value);
  const items: string[] = [];
  for (const key in value) {
    const item = (value as Record<string, JsonValue>)[key];
    const isOpen = typeof item === 'object' && item !== null;
    const text = isOpen ? yield* formattingJson(item, indent, depth + 1, counted) : formatJson(item, indent, depth + 1);
    items.push(isArray ? text : `${JSON.stringify(key)}: ${text}`);
    if (++counted.entries % SHARE === 0) yield;
  }
  return joined(isArray, items, indent, depth);
}

function joined(isArray: boolean, items: readonly string[], indent: number, depth: number): string {
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return open + close;
  if (indent === 0) return `${open}${items.join(', ')}${close}`;
  const pad = ' '.repeat(indent * (depth + 1));
  return `${open}\n${pad}${items.join(`,\n${pad}`)}\n${' '.repeat(indent * depth)}${close}`;
}
