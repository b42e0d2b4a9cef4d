import { parseJson } from '../json/parse.ts';
import { isPlainValue } from '../json/plain-keys.ts';
import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';

// Messages and calls in a line of this program's dumps: their long texts are stored in the turns.

/** Shorter texts stay in place, for people who read a line. */
const LONG = 64;
const SHORT_ARGUMENTS = 24;

const CALL_KEYS =
  'index turn id name arguments raw error fault result result_turn reward metrics started duration waited'.split(' ');

// ── messages: long content that equals the turn's text is left out; content that is part of it becomes a reference ──
export function packMessage(
  message: JsonObject,
  index: number,
  texts: ReadonlyMap<number, string>,
  calls: readonly JsonObject[],
): JsonObject {
  const shown = texts.get(index) ?? '';
  const { content, tool_calls, tool_call_id, name } = message;
  const place = textPlace(content, shown);
  const answered = callAnswered(index, calls);
  const isAnswer = answered !== undefined && tool_call_id === answered.id && name === answered.name;
  const isTold = tool_calls !== undefined && isToldByCalls(tool_calls, index, calls);
  const packed: JsonObject = {};
  for (const key of Object.keys(message)) {
    if (key === 'content' && place !== null) continue;
    if (isAnswer && (key === 'tool_call_id' || key === 'name')) continue;
    if (isTold && key === 'tool_calls') continue;
    packed[key] = message[key]!;
  }
  if (place !== null && content !== shown) packed.content_at = place;
  return packed;
}

export function unpackMessage(
  packed: JsonValue,
  index: number,
  texts: ReadonlyMap<number, string>,
  calls: readonly JsonObject[],
): JsonObject {
  const shown = texts.get(index) ?? '';
  const { role = null, content_at, content = at(shown, content_at) ?? shown, ...more } = objectIn(packed);
  const own = calls.filter(({ turn }) => turn === index);
  const answered = role === 'tool' ? callAnswered(index, calls) : undefined;
  return {
    role,
    content,
    ...(own.length > 0 ? { tool_calls: own.map(messageCall) } : {}),
    ...(answered ? { tool_call_id: answered.id, name: answered.name } : {}),
    ...more,
  };
}

/** The position of a text in the turn's; null if it is short, or does not occur there. */
function textPlace(text: JsonValue | undefined, shown: string, from = 0, least = LONG): [number, number] | null {
  if (typeof text !== 'string' || text.length <= least) return null;
  const start = shown.indexOf(text, from);
  return start === -1 ? null : [start, start + text.length];
}

const at = (shown: string, place: JsonValue | undefined): string | null =>
  Array.isArray(place) ? shown.slice(Number(place[0]), Number(place[1])) : null;

const callAnswered = (index: number, calls: readonly JsonObject[]): JsonObject | undefined =>
  calls.find((call) => call.result_turn === index);

const messageCall = (call: JsonObject): JsonObject => ({
  id: call.id!,
  type: 'function',
  function: { name: call.name!, arguments: argumentText(call) },
});

/** Whether the calls of a message equal those of the turn, key by key. */
function isToldByCalls(value: JsonValue, turn: number, calls: readonly JsonObject[]): boolean {
  const own = calls.filter((call) => call.turn === turn);
  if (!Array.isArray(value) || value.length !== own.length) return false;
  return value.every((written, index) => {
    if (!isJsonObject(written) || !isJsonObject(written.function) || written.type !== 'function') return false;
    const { id, name } = itemAt(own, index);
    return (
      written.id === id &&
      written.function.name === name &&
      written.function.arguments === argumentText(itemAt(own, index)) &&
      hasKeys(written, ['id', 'type', 'function']) &&
      hasKeys(written.function, ['name', 'arguments'])
    );
  });
}

const hasKeys = (value: JsonObject, names: readonly string[]): boolean => {
  const keys = Object.keys(value);
  return keys.length === names.length && names.every((name, index) => keys[index] === name);
};

/** The arguments as a chat API writes them: `raw` itself, or what `raw` contains beside the name. */
const argumentText = (call: JsonObject): string => spokenArguments(call).text;

interface SpokenArguments {
  text: string;
  value: JsonValue | undefined;
}

const spoken = new WeakMap<JsonObject, { of: JsonValue | undefined; said: SpokenArguments }>();

/** A call is asked several times for what it says. */
function spokenArguments(call: JsonObject): SpokenArguments {
  const known = spoken.get(call);
  if (known !== undefined && known.of === call.raw) return known.said;
  const said = readSpoken(call);
  spoken.set(call, { of: call.raw, said });
  return said;
}

function readSpoken({ name, raw }: JsonObject): SpokenArguments {
  const text = typeof raw === 'string' ? raw : '';
  const said = callValue(text);
  if (!isJsonObject(said) || said.name !== name || said.arguments === undefined) return { text, value: said };
  const { arguments: own } = said;
  return typeof own === 'string' ? { text: own, value: callValue(own) } : { text: printJson(own), value: own };
}

function callValue(text: string): JsonValue | undefined {
  try {
    return text.trim() === '' ? {} : parseJson(text);
  } catch {
    return undefined;
  }
}

// ── calls: nulls are left out, long texts refer to the turns, answers follow their turn in order ──
export function packCalls(calls: readonly JsonObject[], texts: ReadonlyMap<number, string>): JsonObject[] {
  const rawEnds = new Map<number, number>();
  return calls.map((call, index): JsonObject => {
    const { turn, raw, result, result_turn: answer } = call;
    const place = textPlace(raw, texts.get(Number(turn)) ?? '', rawEnds.get(Number(turn)), 0);
    const args = printJson(call.arguments);
    const areSpoken = args.length > SHORT_ARGUMENTS && printJson(spokenArguments(call).value ?? null) === args;
    const isShown = typeof result === 'string' && result.length > LONG && result === texts.get(Number(answer));
    const plain = usual(call, index, calls);
    const packed: JsonObject = {};
    for (const key of Object.keys(call)) {
      const isTold =
        (key === 'raw' && place !== null) || (key === 'arguments' && areSpoken) || (key === 'result' && isShown);
      if (!isTold && !isPlainValue(call[key], plain[key])) packed[key] = call[key]!;
    }
    if (place !== null) {
      rawEnds.set(Number(turn), place[1]);
      packed.raw_at = place;
    }
    return packed;
  });
}

export function unpackCalls(calls: readonly JsonObject[], texts: ReadonlyMap<number, string>): JsonObject[] {
  return calls.map((call, index): JsonObject => {
    const { raw_at, ...rest } = call;
    const nulls = Object.fromEntries(CALL_KEYS.map((key) => [key, null]));
    const whole: JsonObject = { ...nulls, ...usual(call, index, calls), ...rest };
    whole.raw ??= at(texts.get(Number(call.turn)) ?? '', raw_at);
    if (call.arguments === undefined) whole.arguments = spokenArguments(whole).value ?? null;
    if (call.result === undefined && typeof whole.result_turn === 'number')
      whole.result = texts.get(whole.result_turn) ?? '';
    return whole;
  });
}

/** The usual form of a call: numbered in order, with its answer after those of the turn's earlier calls, and nothing else to say. */
function usual({ turn }: JsonObject, index: number, calls: readonly JsonObject[]): JsonObject {
  let before = 0;
  for (let other = 0; other < index; other++) if (calls[other]?.turn === turn) before++;
  return {
    index,
    id: `call_${index}`,
    result_turn: Number(turn) + 1 + before,
    waited: 0,
    error: null,
    fault: null,
    reward: null,
    metrics: null,
  };
}
