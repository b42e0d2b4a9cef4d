import { isJsonObject, type JsonValue } from '../../json/value.ts';
import { cellWidth } from '../../text/graphemes.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { formatJson } from '../json.ts';
import type { Style } from '../theme.ts';
import type { Block } from './block.ts';

const MAX_LABEL = 20;

export interface TableRow {
  name: string;
  value: string;
  /** The source of the value, quietly behind it. */
  from?: string;
  style?: Style;
}

/** Names at the left, values beside them, each with its own wrap. */
export function table(rows: readonly TableRow[]): Block[] {
  const labels = rows.map(({ name }) => sanitiseLine(name));
  const width = Math.min(MAX_LABEL, Math.max(0, ...labels.map(cellWidth))) + 2;
  return rows.map(({ name, value, from = '', style = 'plain' }, i) => {
    const text = sanitise(value);
    const whole = from === '' ? text : `${text}  ${sanitiseLine(from)}`;
    return {
      id: `field.${name.replaceAll('.', '\u0001')}`,
      turn: i,
      header: true,
      text: whole,
      style,
      trained: false,
      indent: width,
      label: `${labels[i]!} `,
      clip: true,
      ...(from === '' ? {} : { ranges: [{ start: text.length, end: whole.length, style: 'quiet' }] }),
    };
  });
}

/** Every field of the record as it was written, in its order, but those that are hidden. */
export function fieldBlocks(value: JsonValue, hidden: readonly string[]): Block[] {
  if (!isJsonObject(value)) return table([{ name: 'value', value: formatJson(value, 2) }]);
  const shown = Object.entries(value).filter(([name]) => !hidden.includes(name));
  const blocks = table(
    shown.map(([name, item]) => ({ name, value: typeof item === 'string' ? item : formatJson(item, 2) })),
  );
  const away = Object.keys(value).filter((name) => hidden.includes(name));
  if (away.length === 0) return blocks;
  const text = `hidden: ${away.map(sanitiseLine).join(', ')}   + shows them`;
  return [...blocks, { id: 'hidden', turn: null, text, style: 'quiet', trained: false, indent: 0 }];
}
