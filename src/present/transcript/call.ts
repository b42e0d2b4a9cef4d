import { isJsonObject, type JsonValue } from '../../json/value.ts';
import type { ToolCall } from '../../rollout/rollout.ts';
import { sanitise, sanitiseLine } from '../../text/sanitise.ts';
import { formatJson } from '../json.ts';
import { plural } from '../numbers.ts';
import type { Style } from '../theme.ts';
import type { Range } from './block.ts';
import type { CodeLanguage } from './code-language.ts';
import { languageOf } from './syntax.ts';

/** A line or paragraph of a tool call: what it says, how, and how far in. */
export interface CallPiece {
  text: string;
  style: Style;
  indent: number;
  code?: CodeLanguage;
  ranges?: readonly Range[];
}

/** Arguments that fit in this many characters together stand in one line, as a person would write the call. */
const SHORT = 60;

/** Text with quotes or newlines in it reads better as it is than escaped. */
const isShort = (value: JsonValue): boolean =>
  (typeof value !== 'string' || !/["\\\n]/.test(value)) && formatJson(value).length <= SHORT;

/** The message of the JSON parser, at the place that it stopped at. */
const STOPPED_AT = /\(character (\d+) of the call\)$/;

/** A call that was not executed: as it was written, the character that broke it marked. */
export function rawPiece(call: ToolCall): CallPiece[] {
  const raw = call.raw.trim();
  const piece: CallPiece = { text: sanitise(raw), style: 'plain', indent: 2 };
  const stopped = STOPPED_AT.exec(call.error ?? '')?.[1];
  if (stopped !== undefined) {
    const offset = Math.max(0, Number(stopped) - 1 - call.raw.indexOf(raw));
    const start = sanitise(raw.slice(0, offset)).length;
    if (start < piece.text.length) piece.ranges = [{ start, end: start + 1, style: 'error' }];
  }
  return [{ text: call.name === null ? 'call' : sanitiseLine(call.name), style: 'strong', indent: 0 }, piece];
}

/** Arguments that get a line of their own. A call that has more holds data, which is read as data. */
const MOST = 500;

/** `name(key="value", n=2)`, or the name with each long argument below it, its newlines real ones. */
export function callPieces(call: ToolCall): CallPiece[] {
  const name = sanitiseLine(call.name ?? 'call');
  if (!isJsonObject(call.arguments ?? undefined)) {
    return [{ text: `${name}(${sanitise(formatJson(call.arguments))})`, style: 'strong', indent: 0 }];
  }
  const given = call.arguments as Record<string, JsonValue>;
  const entries = Object.entries(given);
  const line = entries
    .slice(0, SHORT)
    .map(([key, value]) => `${key}=${formatJson(value)}`)
    .join(', ');
  if (entries.length <= SHORT && entries.every(([, value]) => isShort(value)) && line.length <= 2 * SHORT) {
    return [{ text: `${name}(${sanitiseLine(line)})`, style: 'strong', indent: 0 }];
  }
  const pieces: CallPiece[] = [{ text: name, style: 'strong', indent: 0 }];
  for (const [key, value] of entries.slice(0, MOST)) {
    // The one argument of a code tool needs no label: its text speaks for itself.
    const label = entries.length > 1 || typeof value !== 'string';
    if (isShort(value) && label) {
      pieces.push({ text: sanitiseLine(`${key}: ${formatJson(value)}`), style: 'plain', indent: 2 });
      continue;
    }
    if (label) pieces.push({ text: `${sanitiseLine(key)}:`, style: 'quiet', indent: 2 });
    const text = typeof value === 'string' ? value : formatJson(value, 2);
    const code = typeof value === 'string' ? languageOf(name, key, given) : 'json';
    const piece = { text: sanitise(text.replace(/\n+$/, '')), style: 'plain', indent: label ? 4 : 2 } as const;
    pieces.push(code === null ? piece : { ...piece, code });
  }
  if (entries.length > MOST) {
    const rest = entries.slice(MOST).map(([key, value]) => `  ${JSON.stringify(key)}: ${formatJson(value, 2, 1)}`);
    pieces.push({ text: `${plural(entries.length - MOST, 'more argument')}:`, style: 'quiet', indent: 2 });
    const text = sanitise(`{\n${rest.join(',\n')}\n}`);
    pieces.push({ text, style: 'plain', indent: 4, code: 'json' });
  }
  return pieces;
}
