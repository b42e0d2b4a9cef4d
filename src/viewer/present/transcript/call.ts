import { isJsonObject, type JsonValue } from '../../../core/json/value.ts';
import { itemAt } from '../../../core/lists/at.ts';
import type { ToolCall } from '../../../core/rollout/rollout.ts';
import { plural } from '../../../core/text/numbers.ts';
import { sanitise, sanitiseLine, sanitising } from '../../../core/text/sanitise.ts';
import { formatJson, formattingJson } from '../json.ts';
import type { Style } from '../theme.ts';
import type { Range } from './block.ts';
import type { CodeLanguage } from './code-language.ts';
import { languageOf } from './syntax.ts';

/** A line or paragraph of a tool call: its text, style and indentation. */
export interface CallPiece {
  text: string;
  style: Style;
  indent: number;
  code?: CodeLanguage;
  ranges?: readonly Range[];
}

/** Arguments that fit into this many characters in total share one line, as a person would write the call. */
const SHORT = 60;

/** Text with quotes or newlines reads better verbatim than escaped. */
function isShort(value: JsonValue): boolean {
  if (typeof value === 'string') return value.length <= SHORT - 2 && !/["\\\n]/.test(value);
  // A list or object with more entries is certainly longer, so it need not be formatted.
  if (typeof value === 'object' && value !== null && Object.keys(value).length > SHORT) return false;
  return formatJson(value).length <= SHORT;
}

/** No regex here: one that ends in \n+$ is quadratic in a run of newlines. */
function withoutNewlines(text: string): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x0a) end--;
  return text.slice(0, end);
}

/** The JSON parser's message, with the position where it stopped. */
const STOPPED_AT = /\(character (\d+) of the call\)$/;

/** A call that was not executed: verbatim, with the offending character marked. */
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

/** Arguments that get their own line. A call with more is treated as data. */
const MOST = 500;

/** `name(key="value", n=2)`, or the name with each long argument below it, with real newlines. */
export function* callPieces(call: ToolCall): Generator<void, CallPiece[]> {
  const known = longCalls.get(call);
  if (known !== undefined) return known;
  const pieces = yield* makingPieces(call);
  if (call.raw.length > LONG_CALL) longCalls.set(call, pieces);
  return pieces;
}

/** A longer call is cached across folds and widths. */
const LONG_CALL = 50_000;
const longCalls = new WeakMap<ToolCall, CallPiece[]>();
/** Arguments written between two pauses. */
const SHARE = 1000;

function* makingPieces(call: ToolCall): Generator<void, CallPiece[]> {
  const name = sanitiseLine(call.name ?? 'call');
  if (!isJsonObject(call.arguments ?? undefined)) {
    const text = yield* sanitising(yield* formattingJson(call.arguments));
    return [{ text: `${name}(${text})`, style: 'strong', indent: 0 }];
  }
  const given = call.arguments as Record<string, JsonValue>;
  const keys = Object.keys(given);
  const entries = keys.slice(0, MOST).map((key) => [key, given[key]!] as const);
  if (keys.length <= SHORT && entries.every(([, value]) => isShort(value))) {
    const line = entries.map(([key, value]) => `${key}=${formatJson(value)}`).join(', ');
    if (line.length <= 2 * SHORT) return [{ text: `${name}(${sanitiseLine(line)})`, style: 'strong', indent: 0 }];
  }
  const pieces: CallPiece[] = [{ text: name, style: 'strong', indent: 0 }];
  for (const [key, value] of entries) {
    // The only argument of a code tool needs no label: its text speaks for itself.
    const label = keys.length > 1 || typeof value !== 'string';
    if (isShort(value) && label) {
      pieces.push({ text: sanitiseLine(`${key}: ${formatJson(value)}`), style: 'plain', indent: 2 });
      continue;
    }
    if (label) pieces.push({ text: `${sanitiseLine(key)}:`, style: 'quiet', indent: 2 });
    const text = typeof value === 'string' ? value : yield* formattingJson(value, 2);
    const code = typeof value === 'string' ? languageOf(name, key, given) : 'json';
    const shown = yield* sanitising(withoutNewlines(text));
    const piece = { text: shown, style: 'plain', indent: label ? 4 : 2 } as const;
    pieces.push(code === null ? piece : { ...piece, code });
  }
  if (keys.length > MOST) {
    const rest: string[] = [];
    for (let i = MOST; i < keys.length; i++) {
      rest.push(`  ${JSON.stringify(keys[i])}: ${yield* formattingJson(given[itemAt(keys, i)]!, 2, 1)}`);
      if (i % SHARE === 0) yield;
    }
    pieces.push({ text: `${plural(rest.length, 'more argument')}:`, style: 'quiet', indent: 2 });
    const text = yield* sanitising(`{\n${rest.join(',\n')}\n}`);
    pieces.push({ text, style: 'plain', indent: 4, code: 'json' });
  }
  return pieces;
}
