import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { completeRollout } from '../rollout/complete.ts';
import type { Ended } from '../rollout/ended.ts';
import { countMask, inferLossMask, type LossMask, type MaskSource, type Trained } from '../rollout/loss-mask.ts';
import type { Context, Part, Rollout, RolloutTokens, Span, ToolCall, Turn } from '../rollout/rollout.ts';
import type { ReadContext } from './format.ts';
import { turnOf } from './messages.ts';
import { contentText } from './parts.ts';
import { idOf, numberOf } from './scalars.ts';

/** A text of a message, with the JSON pointer of where it lies. */
export interface MessageText {
  pointer: string;
  text: string;
  isThought?: boolean;
}

export interface MessageCall {
  id: string | null;
  name: string | null;
  /** As it was recorded: an object, or a JSON text. */
  arguments: JsonValue | undefined;
  raw?: string;
  error?: string | null;
}

/** One message of a history, as a format finds it. */
export interface FoundMessage {
  role: string;
  texts: MessageText[];
  /** Recorded calls; where there are none, those that the text shows count. */
  calls?: MessageCall[];
  /** The ids of the calls that this message answers. */
  answers?: string | null;
  /** It answers a call, though its role is another than tool's. */
  isResult?: boolean;
  /** Its text is the call, and nothing else. */
  isCallText?: true;
  /** Sampled by the policy and trained on; null where the record does not say. By default an assistant's message is. */
  trained?: Trained;
  reward?: number | null;
  /** Its place in `contexts`. */
  context?: number;
}

/** The parts that a format finds in a record. */
export interface Found {
  format: string;
  record: JsonObject;
  /** Keys of the record that have a place of their own in the rollout; all others are extras. */
  known: ReadonlySet<string>;
  messages: FoundMessage[];
  step?: number | null;
  score?: number | null;
  groundTruth?: JsonValue | undefined;
  uid?: string | null;
  status?: string | null;
  ended?: Ended | null;
  group?: string | null;
  tools?: JsonValue | undefined;
  advantage?: number | null;
  named?: Record<string, number | null> | null;
  /** Beside the record's own. */
  extras?: JsonObject;
  contexts?: Context[];
  tokens?: RolloutTokens | null;
  returns?: (number | null)[] | null;
  /** The source of the mask; by default it is inferred from the roles. */
  mask?: MaskSource;
  /** The first message of the response; by default the first one that may be trained. */
  firstReply?: number;
  /** Calls that stand in a message's text are none: the writer keeps them apart. */
  hasCallsApart?: boolean;
}

/** Messages as turns with the spans of their texts, and calls with their results. */
export function layMessages(
  messages: readonly FoundMessage[],
  { validation }: Pick<ReadContext, 'validation'>,
  hasCallsApart = false,
): Pick<Rollout, 'texts' | 'spans' | 'turns'> {
  const texts: Record<string, string> = Object.create(null);
  const spans: Span[] = [];
  const turns: Turn[] = [];
  let firstCall = 0;
  for (const [index, message] of messages.entries()) {
    const trained = validation ? false : trainedOf(message);
    const turn = layMessage(message, index, firstCall, hasCallsApart);
    turn.trained = turn.text === '' && turn.toolCalls.length === 0 ? false : trained;
    turn.reward = message.reward ?? null;
    if (message.context !== undefined && message.context > 0) turn.context = message.context;
    firstCall += turn.toolCalls.length;
    turns.push(turn);
    for (const { pointer, text } of message.texts) {
      if (text === '' || Object.hasOwn(texts, pointer)) continue;
      texts[pointer] = text;
      spans.push({ field: pointer, start: 0, end: text.length, turn: index, kind: 'text', trained });
    }
  }
  pairResults(turns, messages);
  return { texts, spans, turns };
}

type Named = Omit<Found, 'messages'>;

/** The rollout's values as they were found, and as extras those without a place of their own. */
export function namedParts(found: Named) {
  const { record, known, tokens, group, ended } = found;
  const extras: JsonObject = Object.create(null);
  for (const key of Object.keys(record)) if (!known.has(key)) extras[key] = record[key] as JsonValue;
  for (const key of Object.keys(found.extras ?? {})) extras[key] = found.extras![key] as JsonValue;
  return {
    format: found.format,
    step: found.step ?? null,
    score: found.score ?? null,
    groundTruth: found.groundTruth,
    uid: found.uid ?? null,
    requestId: null,
    status: found.status ?? null,
    extras,
    ...(ended ? { ended } : {}),
    ...(tokens ? { tokens } : {}),
    ...(group ? { group } : {}),
  };
}

/** The rewards of the rollout as a whole. */
export const wholeRewards = ({ score, advantage, named }: Named) => ({
  total: score ?? null,
  advantage: advantage ?? null,
  ...(named ? { named } : {}),
  unaligned: [],
});

/** A rollout of messages: the mask is by message, but where tokens are recorded. */
export function buildRollout(found: Found, context: ReadContext): Rollout {
  const { messages } = found;
  const { validation } = context;
  const { texts, spans, turns } = layMessages(messages, context, found.hasCallsApart === true);
  const firstReply =
    found.firstReply ?? firstIndex(messages, (message) => trainedOf(message) !== false || isReply(message.role));
  const perTurn = turns.map(({ reward }) => reward);
  const contexts = found.contexts ?? [];
  return completeRollout(
    {
      ...namedParts(found),
      texts,
      turns,
      spans,
      responseTurn: firstReply,
      toolSchemas: Array.isArray(found.tools) ? found.tools : [],
      validation,
      // A recorded mask is shown of a validation rollout too; nothing of it was trained on.
      lossMask: validation && found.mask !== 'recorded' ? null : maskOf(spans, messages.slice(firstReply), found),
      ...(contexts.length > 1 ? { contexts } : {}),
      rewards: {
        ...wholeRewards(found),
        perTurn: noneAsNull(perTurn),
        returns: noneAsNull(found.returns ?? []),
      },
    },
    context.errors,
  );
}

const isReply = (role: string): boolean => role === 'assistant' || role === 'function_call';
const trainedOf = (message: FoundMessage): Trained =>
  message.trained === undefined ? isReply(message.role) : message.trained;

function firstIndex<T>(items: readonly T[], holds: (item: T) => boolean): number {
  const at = items.findIndex(holds);
  return at === -1 ? items.length : at;
}

const noneAsNull = (values: (number | null)[]): (number | null)[] | null =>
  values.some((value) => value !== null) ? values : null;

function maskOf(spans: readonly Span[], response: readonly FoundMessage[], { mask, tokens }: Found): LossMask {
  const fields = response.flatMap(({ texts }) => texts.map(({ pointer }) => pointer));
  if (mask === undefined || mask === 'inferred') return inferLossMask(spans, fields);
  return {
    source: mask,
    ...countMask(spans, fields),
    trainedTokens: tokens?.mask.reduce((sum, bit) => sum + (bit === 0 ? 0 : 1), 0) ?? null,
    totalTokens: tokens?.mask.length ?? null,
  };
}

function layMessage(message: FoundMessage, index: number, firstCall: number, hasCallsApart: boolean): Turn {
  const { texts, role } = message;
  const calls = message.calls ?? [];
  const shown = texts.filter(({ text }) => text !== '');
  const hasThoughts = shown.some(({ isThought }) => isThought === true);
  const text = shown.map((piece) => piece.text).join('\n');
  // Thoughts that are recorded apart are reasoning whatever their text holds; the text behind them may show calls.
  const last = shown.at(-1);
  const head = hasThoughts && last !== undefined ? text.length - (last.isThought ? 0 : last.text.length) : 0;
  const turn = turnOf(index, hasCallsApart ? 'text' : role, text.slice(head), firstCall);
  turn.role = role;
  turn.text = text;
  for (const part of turn.parts) {
    part.start += head;
    part.end += head;
  }
  if (head > 0) turn.parts.unshift(...thoughtParts(shown, head));
  const own = turn.toolCalls.filter(({ error }) => error === null);
  if (calls.length > 0) {
    const recorded = calls.map((call, position) => recordedCall(call, firstCall + position));
    if (turn.toolCalls.length === recorded.length) {
      for (const [at, { id, name, arguments: args, error }] of recorded.entries())
        Object.assign(turn.toolCalls[at]!, { id, name, arguments: args, error });
    } else {
      if (own.length > 0) turn.parts = plainParts(turn.parts);
      turn.toolCalls = recorded;
      if (message.isCallText && text !== '') turn.parts = [{ kind: 'call', start: 0, end: text.length, call: 0 }];
    }
  }
  return turn;
}

/** Calls that the text shows are not the recorded ones: their places in it are text again. */
const plainParts = (parts: readonly Part[]): Part[] =>
  parts.map((part) => (part.kind === 'call' ? { kind: 'text', start: part.start, end: part.end } : part));

function thoughtParts(pieces: readonly MessageText[], head: number): Part[] {
  const parts: Part[] = [];
  let at = 0;
  for (const { text, isThought } of pieces) {
    if (at >= head) break;
    const end = Math.min(head, at + text.length + 1);
    parts.push({ kind: isThought ? 'think' : 'text', start: at, end });
    at = end;
  }
  return parts;
}

function recordedCall(call: MessageCall, index: number): ToolCall {
  const { id, name } = call;
  const raw = call.raw ?? (typeof call.arguments === 'string' ? call.arguments : '');
  const { args, error } = decoded(call.arguments);
  return { index, id, name, arguments: args, raw, error: call.error ?? error, resultTurn: null };
}

/** Arguments that are a JSON text stand for their value; one that does not parse stays, with its error. */
function decoded(value: JsonValue | undefined): { args: JsonValue; error: string | null } {
  if (typeof value !== 'string') return { args: value ?? null, error: null };
  if (value.trim() === '') return { args: {}, error: null };
  try {
    return { args: JSON.parse(value) as JsonValue, error: null };
  } catch (error) {
    return { args: null, error: `its arguments are not JSON: ${(error as Error).message}`.slice(0, 200) };
  }
}

/** Results are found by their call's id; those without one belong, in order, to the calls before them in the same history. */
export function pairResults(
  turns: readonly Turn[],
  messages: readonly Pick<FoundMessage, 'answers' | 'isResult'>[],
): void {
  const byId = new Map<string, ToolCall>();
  let waiting: ToolCall[] = [];
  for (const [index, turn] of turns.entries()) {
    const { answers, isResult } = messages[index]!;
    for (const call of turn.toolCalls) if (call.id !== null) byId.set(call.id, call);
    if (turn.role !== 'tool' && isResult !== true) {
      if (turn.toolCalls.length > 0) {
        // Calls of one reply may stand in items of their own, one behind the other.
        const before = turns[index - 1];
        const goesOn = before !== undefined && before.toolCalls.length > 0 && before.context === turn.context;
        if (!goesOn) waiting = [];
        for (const call of turn.toolCalls) if (call.resultTurn === null) waiting.push(call);
      } else if (turn.role !== 'system') waiting = [];
      continue;
    }
    const asked = answers ? byId.get(answers) : undefined;
    const call = asked?.resultTurn === null ? asked : answers ? undefined : waiting.find((one) => one.error === null);
    if (call === undefined) continue;
    call.resultTurn = turn.index;
    const at = waiting.indexOf(call);
    if (at !== -1) waiting.splice(at, 1);
  }
}

/** The names under which writers keep a message's reasoning. */
const THOUGHTS = ['reasoning_content', 'reasoning', 'thinking', 'thought'];

/** A message as OpenAI's chat API has it, with what its relatives add; `at` is the JSON pointer of the message. */
export function chatMessage(message: JsonObject, at: string): FoundMessage {
  const texts: MessageText[] = [];
  const thought = THOUGHTS.find((key) => typeof message[key] === 'string' && message[key] !== '');
  if (thought !== undefined)
    texts.push({ pointer: `${at}/${thought}`, text: message[thought] as string, isThought: true });
  else texts.push(...thoughtsOf(message, at));
  const place = ['content', 'value', 'text', 'parts'].find((key) => message[key] !== undefined) ?? 'content';
  texts.push({ pointer: `${at}/${place}`, text: contentText(message[place]) });
  const role = roleOfMessage(message.role ?? message.from);
  const said = role === 'function_call' ? parsed(texts.at(-1)!.text) : undefined;
  const calls = isJsonObject(said) ? [{ ...callOf(said), raw: texts.at(-1)!.text }] : callsOf(message);
  return {
    role,
    texts,
    ...(calls.length > 0 ? { calls } : {}),
    ...(isJsonObject(said) ? { isCallText: true } : {}),
    answers: idOf(message.tool_call_id ?? message.tool_use_id ?? message.toolCallId ?? message.call_id),
  };
}

/** Reasoning as blocks of the content (Anthropic), or beside it. */
function thoughtsOf(message: JsonObject, at: string): MessageText[] {
  const blocks = Array.isArray(message.content)
    ? { key: 'content', list: message.content }
    : Array.isArray(message.thinking_blocks)
      ? { key: 'thinking_blocks', list: message.thinking_blocks }
      : null;
  return (blocks?.list ?? []).flatMap((block, i) => {
    if (!isJsonObject(block)) return [];
    const isThought = block.type === 'thinking' || block.type === 'reasoning' || block.type === 'think';
    const key = ['thinking', 'reasoning', 'think'].find((name) => typeof block[name] === 'string');
    return isThought && key !== undefined
      ? [{ pointer: `${at}/${blocks!.key}/${i}/${key}`, text: block[key] as string, isThought: true }]
      : [];
  });
}

const ROLES: Record<string, string> = {
  human: 'user',
  gpt: 'assistant',
  ai: 'assistant',
  bot: 'assistant',
  model: 'assistant',
  chatbot: 'assistant',
  agent: 'assistant',
  function: 'tool',
  observation: 'tool',
  toolResult: 'tool',
  tool_result: 'tool',
  ipython: 'tool',
  tool_response: 'tool',
};

/** The field's words for those of templates and writers; what is unknown stays as it is. */
export const roleOfMessage = (value: JsonValue | undefined): string => {
  const role = idOf(value ?? null);
  return role === null ? 'unknown' : (ROLES[role] ?? role);
};

/** Calls of a message: OpenAI's list (of objects, or of JSON texts of them), its older `function_call`, or blocks in the content. */
export function callsOf(message: JsonObject): MessageCall[] {
  const listed = typeof message.tool_calls === 'string' ? parsed(message.tool_calls) : message.tool_calls;
  const list = Array.isArray(listed) ? listed : isJsonObject(listed) ? [listed] : [];
  const calls = list.flatMap((one): MessageCall[] => {
    const value = typeof one === 'string' ? parsed(one) : one;
    if (!isJsonObject(value))
      return typeof one === 'string' ? [{ id: null, name: null, arguments: one, raw: one }] : [];
    return [callOf(value)];
  });
  if (calls.length > 0) return calls;
  if (isJsonObject(message.function_call)) return [callOf(message.function_call)];
  return objectsOf(message.content ?? message.parts).flatMap((block) => {
    if (isJsonObject(block.functionCall)) return [callOf(block.functionCall)];
    return CALL_BLOCKS.has(String(block.type)) ? [callOf(block)] : [];
  });
}

/** `server_tool_use` and `mcp_tool_use` are calls that Anthropic's server runs itself. */
const CALL_BLOCKS = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use', 'toolCall', 'tool_call']);

function callOf(call: JsonObject): MessageCall {
  const inner = isJsonObject(call.function) ? call.function : call;
  const named = inner.name ?? (typeof call.function === 'string' ? call.function : null) ?? call.function_name;
  return {
    id: idOf(call.id ?? call.tool_call_id ?? call.call_id),
    name: idOf(named ?? call.tool ?? null),
    arguments: inner.arguments ?? inner.input ?? inner.args ?? inner.parameters,
    ...(typeof call.parse_error === 'string' ? { error: call.parse_error } : {}),
  };
}

/** A JSON text's value; undefined for any other text. */
export function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

export const objectsOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** One number or null an entry; null for what is no list of such. */
export function numbersOf(value: JsonValue | undefined): (number | null)[] | null {
  if (!Array.isArray(value)) return null;
  return value.every((one) => one === null || typeof one === 'number' || typeof one === 'boolean' || isNotFinite(one))
    ? value.map((one) => (typeof one === 'boolean' ? Number(one) : numberOf(one)))
    : null;
}

/** JSON has no word for them, and writers take strings. */
const isNotFinite = (value: JsonValue): boolean => value === 'NaN' || value === 'Infinity' || value === '-Infinity';

/** Token ids, or a mask of them; null where they are none, and for an empty list, which records nothing. */
export function idsOf(value: JsonValue | undefined): number[] | null {
  const numbers = numbersOf(value);
  return numbers === null || numbers.length === 0 || numbers.some((one) => one === null) ? null : (numbers as number[]);
}

/** Named numbers of an object. */
export function namedNumbers(value: JsonValue | undefined): Record<string, number | null> | null {
  if (!isJsonObject(value)) return null;
  const named = Object.entries(value).flatMap(([key, one]): [string, number | null][] => {
    const number = typeof one === 'boolean' ? Number(one) : numberOf(one);
    return number !== null || one === null ? [[key, number]] : [];
  });
  return named.length === 0 ? null : Object.fromEntries(named);
}
