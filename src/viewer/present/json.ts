import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';

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
  // The values of an object with 100,000 keys take three times as long in a list of their own.
  const [list, fields]: [JsonValue[] | null, JsonObject] = Array.isArray(value) ? [value, {}] : [null, value];
  const keys = list === null ? Object.keys(fields) : null;
  const count = (list ?? keys ?? []).length;
  const separator = separatorOf(indent, depth);
  const shares: string[] = [];
  let items: string[] = [];
  for (let i = 0; i < count; i++) {
    const item = keys === null ? list?.[i] : fields[itemAt(keys, i)];
    const isOpen = typeof item === 'object' && item !== null;
    const text = isOpen ? yield* formattingJson(item, indent, depth + 1, counted) : formatJson(item, indent, depth + 1);
    items.push(keys === null ? text : `${JSON.stringify(keys[i])}: ${text}`);
    if (++counted.entries % SHARE !== 0) continue;
    shares.push(items.join(separator));
    items = [];
    yield;
  }
  if (items.length > 0) shares.push(items.join(separator));
  return joined(keys === null, shares, indent, depth);
}

const separatorOf = (indent: number, depth: number): string =>
  indent === 0 ? ', ' : `,\n${' '.repeat(indent * (depth + 1))}`;

function joined(isArray: boolean, items: readonly string[], indent: number, depth: number): string {
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  if (items.length === 0) return open + close;
  const text = items.join(separatorOf(indent, depth));
  if (indent === 0) return `${open}${text}${close}`;
  return `${open}\n${' '.repeat(indent * (depth + 1))}${text}\n${' '.repeat(indent * depth)}${close}`;
}
