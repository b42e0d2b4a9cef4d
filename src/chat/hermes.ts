import { JsonError, parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { unclosedCall } from '../rollout/call-error.ts';

/** A call as it stands in a model's text; `start` and `end` are UTF-16 offsets and include the tags. */
export interface HermesCall {
  start: number;
  end: number;
  name: string | null;
  arguments: JsonValue | null;
  raw: string;
  error: string | null;
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

/**
 * Calls in the hermes format, found as verl's HermesToolParser finds them (`<tool_call>(.*?)</tool_call>` over the whole turn,
 * reasoning included; both tags are needed; an object with `name` and `arguments`). A call that verl drops is kept, with its error.
 */
export function parseHermesCalls(text: string): HermesCall[] {
  const calls: HermesCall[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(OPEN, at);
    if (start === -1) return calls;
    const close = text.indexOf(CLOSE, start + OPEN.length);
    if (close === -1) {
      const raw = text.slice(start + OPEN.length);
      calls.push({ start, end: text.length, name: null, arguments: null, raw, error: unclosedCall(CLOSE) });
      return calls;
    }
    const raw = text.slice(start + OPEN.length, close);
    at = close + CLOSE.length;
    calls.push({ start, end: at, raw, ...readCall(raw) });
  }
}

function readCall(raw: string): Pick<HermesCall, 'name' | 'arguments' | 'error'> {
  let value: JsonValue;
  try {
    value = parseJson(raw);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return {
      name: null,
      arguments: null,
      error: `not JSON: ${error.message} (character ${error.offset + 1} of the call)`,
    };
  }
  if (!isJsonObject(value)) return { name: null, arguments: null, error: 'not a JSON object' };
  const name = typeof value.name === 'string' ? value.name : null;
  const given = Object.hasOwn(value, 'arguments') ? (value.arguments ?? null) : null;
  if (name === null) return { name, arguments: given, error: 'no "name"' };
  if (!Object.hasOwn(value, 'arguments')) return { name, arguments: null, error: 'no "arguments"' };
  return { name, arguments: given, error: null };
}
