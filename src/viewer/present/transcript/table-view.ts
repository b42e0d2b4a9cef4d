import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { cellWidth } from '../../../core/text/graphemes.ts';
import { sanitise, sanitiseLine } from '../../../core/text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Style } from '../theme.ts';
import type { Block } from './block.ts';

const MAX_LABEL = 20;

export interface TableRow {
  name: string;
  value: string;
  /** The source of the value, shown after it in the quiet style. */
  from?: string;
  style?: Style;
}

/** Names at the left, values beside them, each wrapped separately; a record may have a million. */
export function* table(rows: readonly TableRow[]): Generator<Block> {
  let widest = 0;
  for (const { name } of rows)
    if (widest < MAX_LABEL) widest = Math.max(widest, cellWidth(sanitiseLine(name.slice(0, MAX_LABEL))));
  const width = Math.min(MAX_LABEL, widest) + 2;
  for (const [i, { name, value, from = '', style = 'plain' }] of rows.entries()) {
    const text = sanitise(value);
    const whole = from === '' ? text : `${text}  ${sanitiseLine(from)}`;
    yield {
      id: `field.${name.replaceAll('.', '\u0001')}`,
      turn: i,
      header: true,
      text: whole,
      style,
      trained: false,
      indent: width,
      label: `${sanitiseLine(name)} `,
      clip: true,
      ...(from === '' ? {} : { ranges: [{ start: text.length, end: whole.length, style: 'quiet' }] }),
    };
  }
}

/** Every field of the record verbatim, in order, except the hidden ones. */
export function* fieldBlocks(value: JsonValue, hidden: readonly string[]): Generator<Block> {
  if (!isJsonObject(value)) {
    yield* table([{ name: 'value', value: formatJson(value, 2) }]);
    return;
  }
  const left = new Set(hidden);
  const rows = Object.entries(value).filter(([name]) => !left.has(name));
  yield* table(rows.map(([name, item]) => ({ name, value: typeof item === 'string' ? item : formatJson(item, 2) })));
  const away = Object.keys(value).filter((name) => left.has(name));
  if (away.length === 0) return;
  const text = `hidden: ${away.map(sanitiseLine).join(', ')}   + shows them`;
  yield { id: 'hidden', turn: null, text, style: 'quiet', trained: false, indent: 0 };
}
