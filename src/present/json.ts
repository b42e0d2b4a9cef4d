import type { JsonValue } from '../json/value.ts';

/** JSON as it was written: big integers keep their digits, NaN and ±Infinity their names. `indent` > 0 spreads it over lines. */
export function formatJson(value: JsonValue | undefined, indent = 0, depth = 0): string {
  if (value === undefined) return '';
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  // A value nested deeper than anybody reads is cut rather than let it overflow the stack.
  if (depth > 200) return '…';
  const array = Array.isArray(value);
  const items = array
    ? value.map((item) => formatJson(item, indent, depth + 1))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${formatJson(item, indent, depth + 1)}`);
  const [open, close] = array ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return open + close;
  if (indent === 0) return `${open}${items.join(', ')}${close}`;
  const pad = ' '.repeat(indent * (depth + 1));
  return `${open}\n${pad}${items.join(`,\n${pad}`)}\n${' '.repeat(indent * depth)}${close}`;
}
