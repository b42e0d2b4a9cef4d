import { isJsonObject, type JsonValue, listIn } from '../../../core/json/value.ts';
import { itemAt } from '../../../core/lists/at.ts';
import { plural } from '../../../core/text/numbers.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Style } from '../theme.ts';
import type { Block, Range } from './block.ts';
import type { Folds } from './blocks.ts';

/** Deeper containers open only on request; a container with more entries than this is folded as well. */
const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 400;
/** A longer string folds to its start. */
const LONG = 200;
/** Indentation stops growing here, so that a value nested 10,000 deep stays visible. */
const MAX_INDENT = 24;
/** A record with more lines is cut, with a note at its end. */
const MAX_LINES = 200_000;

const styleOf = (value: JsonValue): Style =>
  typeof value === 'string' ? 'string' : value === null || typeof value === 'boolean' ? 'marker' : 'number';

interface JsonNode {
  id: string;
  key: string | null;
  value: JsonValue;
  depth: number;
}

/** Ids are separated by dots, so a dot in a key is replaced. */
const nodeId = (parent: string, key: string): string => `${parent}.${key.replaceAll('.', '\u0001')}`;

/** One line per key; containers and long strings fold. Flattened without recursion, and only what is open. */
export function* jsonBlocks(root: JsonValue, folds: Folds): Generator<Block> {
  let line = 0;
  const stack: JsonNode[] = [{ id: 'json', key: null, value: root, depth: 0 }];
  while (stack.length > 0 && line < MAX_LINES) {
    const { id, key, value, depth } = stack.pop()!;
    const label = key === null ? '' : `${sanitiseLine(key)}: `;
    const base = { id, turn: line++, header: true, trained: false, indent: Math.min(depth * 2, MAX_INDENT) };
    const ranges: Range[] = [{ start: 0, end: label.length, style: 'key' }];
    if (typeof value !== 'object' || value === null) {
      if (typeof value === 'string' && (value.length > LONG || value.includes('\n'))) {
        const closed = folds.get(id) ?? true;
        const head = sanitiseLine(itemAt(value.slice(0, 60).split('\n'), 0));
        const text = `${label}${closed ? '▸' : '▾'} ${head}… ${plural(value.length, 'character')}`;
        yield { ...base, text, style: 'quiet', ranges, fold: closed ? 'closed' : 'open' };
        if (closed) continue;
        // Newlines are real: a transcript in one escaped line is unreadable.
        const shown = { id: `${id}.text`, turn: base.turn, trained: false, indent: base.indent + 2 };
        yield { ...shown, text: sanitise(value), style: 'string', clip: true };
        continue;
      }
      const text = label + (typeof value === 'string' ? sanitiseLine(JSON.stringify(value)) : formatJson(value));
      ranges.push({ start: label.length, end: text.length, style: styleOf(value) });
      yield { ...base, text, style: 'plain', ranges, clip: true };
      continue;
    }
    const entries: [string, JsonValue][] = isJsonObject(value)
      ? Object.entries(value)
      : listIn(value).map((item, i) => [String(i), item]);
    const [open, close] = Array.isArray(value) ? '[]' : '{}';
    const size = Array.isArray(value) ? plural(entries.length, 'item') : plural(entries.length, 'key');
    const closed = folds.get(id) ?? (depth >= OPEN_DEPTH || (depth > 0 && entries.length > OPEN_ENTRIES));
    if (entries.length === 0) {
      yield { ...base, text: `${label}${open}${close}`, style: 'plain', ranges };
      continue;
    }
    yield {
      ...base,
      text: `${label}${closed ? '▸' : '▾'} ${open}${closed ? ` ${size} ` : ''}${closed ? close : ''}`,
      style: 'quiet',
      ranges,
      fold: closed ? 'closed' : 'open',
    };
    if (closed) continue;
    for (let i = entries.length - 1; i >= 0; i--) {
      const [name, item] = itemAt(entries, i);
      stack.push({ id: nodeId(id, name), key: name, value: item, depth: depth + 1 });
    }
  }
  if (stack.length > 0) {
    const text = '… more than 200,000 lines; fold something above';
    yield { id: 'json-end', turn: null, text, style: 'warning', trained: false, indent: 0 };
  }
}
