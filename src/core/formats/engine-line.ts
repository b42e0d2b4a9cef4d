import { hashOf } from '../json/fingerprint.ts';
import { isPlainValue, withoutPlain } from '../json/plain-keys.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { Span } from '../rollout/rollout.ts';
import { packCalls, packMessage, unpackCalls, unpackMessage } from './engine-line-calls.ts';
import { objectsOf } from './values.ts';

/**
 * The line of this program's dumps, as short as possible. Each text of a rollout is in `input` or `output`, other
 * copies refer to it, and derivable values are left out. `packLine` and `unpackLine` are each other's inverse, and the
 * whole record is what version 1 wrote.
 */
const WRITER = 'rollout-viewer/2';

/** Keys that are left out if empty. */
const PLAIN: JsonObject = {
  tools: [],
  tool_calls: [],
  generations: [],
  gamma: 1,
  reward_scores: {},
  metrics: {},
  warnings: [],
  sampling_params: {},
  data_source: null,
  mask_source: 'recorded',
  error: null,
  state: 'completed',
  finish_reason: 'stop',
  cause: null,
};
const GENERATION_KEYS = 'turn finish_reason started duration prompt_tokens completion_tokens retries'.split(' ');

export function packLine(record: JsonObject): JsonObject {
  const laid = record.spans as unknown as Span[];
  const spans = packSpans(laid, record);
  // A mask that does not cover the texts end to end cannot be shortened.
  if (spans === null) return record;
  const texts = turnTexts(laid, record);
  const messages = objectsOf(record.messages);
  const calls = objectsOf(record.tool_calls);
  const { reward, rollout_log_probs: logprobs, prompt_log_probs: judged } = record;
  const shorter: JsonObject = {
    messages: messages.map((message, index) => packMessage(message, index, texts, calls)),
    tool_calls: packCalls(calls, texts),
    generations: packGenerations(objectsOf(record.generations), messages, calls, record),
    spans,
    writer: WRITER,
  };
  if (isJsonObject(reward)) shorter.reward = withoutPlain(reward, { error: null, metadata: {} });
  if (Array.isArray(judged)) shorter.prompt_log_probs = (judged as (number | null)[]).map(shortestOrNull);
  if (Array.isArray(logprobs)) shorter.rollout_log_probs = (logprobs as number[]).map(shortest);
  const told = new Set(LAST);
  if (record.prompt_turns === promptTurns(laid)) told.add('prompt_turns');
  if (isSameList(record.turn_rewards, usualRewards(record))) told.add('turn_rewards');
  if (isSameList(record.returns, returnsOf(record))) told.add('returns');
  // Filled key by key: a key that is deleted, or left out of a copy, makes the object slow.
  const packed: JsonObject = {};
  const add = (key: string, value: JsonValue | undefined) => {
    if (value !== undefined && !isPlainValue(value, PLAIN[key])) packed[key] = value;
  };
  for (const key of Object.keys(record)) if (!told.has(key)) add(key, shorter[key] ?? record[key]);
  for (const key of Object.keys(shorter)) if (record[key] === undefined) add(key, shorter[key]);
  for (const key of LAST) add(key, record[key]);
  return packed;
}

/** Short keys come last, so that an index finds score and step at the line's end. */
const LAST = ['score', 'step', 'uid'];

/** @param tools contents of the file beside the dump; without it the schemas are unknown */
export function unpackLine(record: JsonObject, tools: JsonValue | undefined): JsonObject {
  if (record.writer !== WRITER) return record;
  const spans = unpackSpans(record.spans, record);
  const texts = turnTexts(spans, record);
  const messages = Array.isArray(record.messages) ? record.messages : [];
  const calls = unpackCalls(objectsOf(record.tool_calls), texts);
  const whole: JsonObject = {
    prompt_turns: promptTurns(spans),

    ...PLAIN,
    ...record,
  };
  whole.spans = spans;
  whole.messages = messages.map((message, index) => unpackMessage(message, index, texts, calls));
  whole.tool_calls = calls;
  if (isJsonObject(whole.generations)) whole.generations = unpackGenerations(whole.generations, calls, whole);
  whole.turn_rewards ??= usualRewards(whole);
  whole.returns ??= returnsOf(whole);
  if (isJsonObject(whole.reward)) whole.reward = { metadata: {}, error: null, ...whole.reward };
  if (typeof whole.tools === 'string') whole.tools = Array.isArray(tools) ? tools : [];
  return whole;
}

// ── tools: the same few for all rollouts, in a file beside the dump ──
export const toolsFile = (hash: string): string => `.rollout-viewer/tools-${hash}.json`;
export const toolsHash = (tools: string): string => hashOf(tools);

/** The file with the tools of a line, from the dump's folder; null for a line that names none. */
export const toolsFileOf = ({ writer, tools }: JsonObject): string | null =>
  writer === WRITER && typeof tools === 'string' && /^[0-9a-f]{16}$/.test(tools) ? toolsFile(tools) : null;

// ── spans: `0:5 =113 1:11 *191`, end to end over input, then output: the turn if it changes, the kind, the length
// (docs/dump-format.md) ──
const MARKER = ':';
const GIVEN = '=';
const SAMPLED = '*';
const UNKNOWN = '?';

function packSpans(spans: readonly Span[], { input, output }: JsonObject): string | null {
  const ends: Record<string, number> = { input: 0, output: 0 };
  for (const { field, start, end } of spans) {
    if (ends[field] !== start || (field === 'input' && ends.output! > 0)) return null;
    ends[field] = end;
  }
  if (ends.input !== textLength(input) || ends.output !== textLength(output)) return null;
  const kindOf = ({ kind, trained }: Span) =>
    kind === 'marker' ? MARKER : trained === null ? UNKNOWN : trained ? SAMPLED : GIVEN;
  const turnOf = ({ turn }: Span, index: number) => (turn === spans[index - 1]?.turn ? '' : turn);
  return spans.map((span, index) => `${turnOf(span, index)}${kindOf(span)}${span.end - span.start}`).join(' ');
}

const textLength = (text: JsonValue | undefined): number => (typeof text === 'string' ? text.length : 0);

function unpackSpans(value: JsonValue | undefined, { input }: JsonObject): Span[] {
  if (typeof value !== 'string') return Array.isArray(value) ? (value as unknown as Span[]) : [];
  const border = textLength(input);
  const spans: Span[] = [];
  let at = 0;
  let turn = 0;
  for (const [, other, kind, length] of value.matchAll(/(\d*)([:=*?])(\d+)/g)) {
    if (other !== '') turn = Number(other);
    const field = at < border ? 'input' : 'output';
    const start = at < border ? at : at - border;
    const end = start + Number(length);
    at += Number(length);
    const isText = kind !== MARKER;
    const trained = kind === UNKNOWN ? null : kind === SAMPLED;
    spans.push({ field, start, end, turn, kind: isText ? 'text' : 'marker', trained });
  }
  return spans;
}

/** The text of each turn, without what the template writes around it. */
function turnTexts(spans: readonly Span[], texts: JsonObject): Map<number, string> {
  const found = new Map<number, string>();
  for (const { field, start, end, turn, kind } of spans) {
    const text = texts[field];
    if (kind !== 'text' || typeof text !== 'string') continue;
    found.set(turn, (found.get(turn) ?? '') + text.slice(start, end));
  }
  return found;
}

/** The prompt ends with the header of the first turn that is sampled. */
const promptTurns = (spans: readonly Span[]): number => spans.findLast(({ field }) => field === 'input')?.turn ?? 0;

// ── sampled turns: one list per key ──
function packGenerations(
  rows: readonly JsonObject[],
  messages: readonly JsonObject[],
  calls: readonly JsonObject[],
  record: JsonObject,
): JsonValue {
  if (rows.some((row) => Object.keys(row).some((key) => !GENERATION_KEYS.includes(key)))) return rows as JsonValue;
  const columns = GENERATION_KEYS.map((key): [string, JsonValue[]] => [key, rows.map((row) => row[key] ?? null)]);
  const plain = usualGenerations(sampledTurns(messages, record), calls);
  return Object.fromEntries(columns.filter(([key, values]) => !isSameList(values, plain[key])));
}

function unpackGenerations(columns: JsonObject, calls: readonly JsonObject[], whole: JsonObject): JsonValue {
  const turns = Array.isArray(columns.turn) ? columns.turn : sampledTurns(objectsOf(whole.messages), whole);
  const plain = usualGenerations(turns as number[], calls);
  const value = (key: string, index: number): JsonValue => {
    const column = columns[key] ?? plain[key];
    return Array.isArray(column) ? (column[index] ?? null) : null;
  };
  return turns.map((_, index) => Object.fromEntries(GENERATION_KEYS.map((key) => [key, value(key, index)])));
}

/** The assistant's turns behind the prompt. */
const sampledTurns = (messages: readonly JsonObject[], { prompt_turns }: JsonObject): number[] =>
  messages.flatMap(({ role }, index) => (role === 'assistant' && index >= Number(prompt_turns) ? [index] : []));

const usualGenerations = (turns: readonly number[], calls: readonly JsonObject[]): Record<string, JsonValue[]> => ({
  turn: [...turns],
  finish_reason: turns.map((turn) => (calls.some((call) => call.turn === turn) ? 'tool_calls' : 'stop')),
  prompt_tokens: turns.map(() => null),
  completion_tokens: turns.map(() => null),
  retries: turns.map(() => 0),
});

/** Usually the last sampled turn earns the score, and nothing else is earned. */
function usualRewards({ messages, generations, score = null }: JsonObject): JsonValue[] {
  const last = objectsOf(generations).at(-1)?.turn;
  return objectsOf(messages).map((_, index) => (index === last ? score : null));
}

/** Sums over all later sampled turns, discounted by `gamma`. */
function returnsOf({ generations, gamma = 1, turn_rewards: rewards }: JsonObject): JsonValue[] {
  const list = Array.isArray(rewards) ? rewards : [];
  const returns: JsonValue[] = list.map(() => null);
  let sum = 0;
  for (const { turn } of objectsOf(generations).toReversed()) {
    sum = Number(list[Number(turn)] ?? 0) + Number(gamma) * sum;
    returns[Number(turn)] = sum;
  }
  return returns;
}

const isSameList = (values: JsonValue | undefined, others: readonly JsonValue[] | undefined): boolean =>
  Array.isArray(values) && values.length === others?.length && values.every((value, index) => value === others[index]);

const TENS = Array.from({ length: 23 }, (_, power) => 10 ** power);

/** Log probabilities are 32-bit numbers, like the trainer's tensors: write the fewest digits that round-trip. */
function shortest(value: number): number {
  const exact = Math.fround(value);
  if (exact === 0 || !Number.isFinite(exact)) return exact;
  const magnitude = Math.floor(Math.log10(Math.abs(exact)));
  for (let digits = 7; digits <= 9; digits++) {
    const scale = TENS[digits - 1 - magnitude] ?? 10 ** (digits - 1 - magnitude);
    const short = scale <= 1e22 ? Math.round(exact * scale) / scale : Number(exact.toPrecision(digits));
    if (Math.fround(short) === exact) return short;
  }
  return exact;
}

const shortestOrNull = (value: number | null): number | null => (value === null ? null : shortest(value));
