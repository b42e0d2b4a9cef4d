import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import { anyMessages, messagesOf } from './any-message.ts';
import type { FoundMessage } from './build.ts';
import { contentText } from './content-text.ts';
import { mendedJson } from './mended-json.ts';
import { responseMessages } from './responses.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/** The content of one side of a model call. */
export interface Payload {
  messages: FoundMessage[];
  tools?: JsonValue;
  finish?: string;
  model?: string;
  usage?: CallUsage;
  /** Requests name their settings beside the messages. */
  settings?: JsonObject;
  /** The text was cut off by its writer. */
  isCut?: true;
}

export interface CallUsage {
  input: number | null;
  output: number | null;
  cost: number | null;
}

/**
 * Input or output of a model call as SDKs and tracers write it: a request or a response of any API, a list of messages, one message, or a
 * text. @param role of a text without one
 */
export function payloadOf(value: JsonValue | undefined, at: string, role: 'user' | 'assistant'): Payload {
  const found = payloadIn(value, at, role, 0);
  const messages = found.messages.map((one) => (one.role === 'function_call' ? { ...one, role: 'assistant' } : one));
  return { ...found, messages: role === 'assistant' ? mergedReply(messages) : messages };
}

/** Nobody nests payloads deeper. */
const DEPTH = 6;

function payloadIn(value: JsonValue | undefined, at: string, role: 'user' | 'assistant', depth: number): Payload {
  if (typeof value === 'string') {
    if (!/^\s*[[{"]/.test(value)) return textPayload(value, at, role);
    const inner = parsed(value);
    if (typeof inner === 'object' && inner !== null) return payloadIn(inner, at, role, depth + 1);
    if (typeof inner === 'string') return textPayload(inner, at, role);
    const mended = inner === undefined ? mendedJson(value) : undefined;
    const found = mended === undefined ? null : payloadIn(mended, at, role, depth + 1);
    // Text that merely begins like JSON is text.
    return found === null || found.messages.length === 0 || typeof mended !== 'object'
      ? textPayload(value, at, role)
      : { ...found, isCut: true };
  }
  if (depth > DEPTH) return { messages: [] };
  if (Array.isArray(value)) {
    const finish = idOf(objectsOf(value).at(-1)?.finish_reason ?? null);
    return { messages: listMessages(value, at, role, depth), ...(finish === null ? {} : { finish }) };
  }
  return isJsonObject(value) ? objectPayload(value, at, role, depth) : { messages: [] };
}

const textPayload = (text: string, at: string, role: string): Payload => ({
  messages:
    text === '' ? [] : [{ role, texts: [{ pointer: at, text }], ...(role === 'assistant' ? {} : { trained: false }) }],
});

function listMessages(list: JsonValue[], at: string, role: 'user' | 'assistant', depth: number): FoundMessage[] {
  const [first] = list;
  // LangChain writes a list for each prompt of a batch.
  if (Array.isArray(first)) return listMessages(first, `${at}/0`, role, depth + 1);
  if (typeof first === 'string' && list.every((one) => typeof one === 'string'))
    return textPayload(list.join('\n'), at, role).messages;
  const objects = objectsOf(list);
  if (objects.length === 0) return [];
  if (objects.some(isResponseItem)) return responseMessages(objects, at);
  if (objects.every((one) => one.role === undefined && isBlock(one)))
    return anyMessages({ role, content: [...list] }, at);
  if (objects.length === 1 && isWrapper(itemAt(objects, 0)))
    return payloadIn(objects[0], `${at}/0`, role, depth + 1).messages;
  return messagesOf(objects, at).map((one) => (one.role === 'unknown' ? { ...one, role } : one));
}

/** An item of the Responses API that is no message. */
const isResponseItem = ({ type, role }: JsonObject): boolean =>
  typeof type === 'string' &&
  role === undefined &&
  /^(?:reasoning|\w+_call|\w+_call_output|output_message)$/.test(type) &&
  type !== 'tool_call';

/** A block of content without its message. */
const isBlock = (one: JsonObject): boolean =>
  typeof one.type === 'string' &&
  /^(?:text|input_text|output_text|image|image_url|thinking|tool_use|tool_result)$/.test(one.type);

/** It holds messages but is not a message. */
const isWrapper = (one: JsonObject): boolean =>
  one.role === undefined &&
  one.content === undefined &&
  ['messages', 'choices', 'generations', 'message'].some((key) => one[key] !== undefined);

const LISTS = [
  'messages',
  'input_messages',
  'output_messages',
  'contents',
  'new_messages',
  'all_messages',
  'chat_history',
  'history',
  'conversation',
  'input_list',
];
const INNER = [
  'inputs',
  'input',
  'prompt',
  'request',
  'kwargs',
  'response',
  'output',
  'outputs',
  'result',
  'raw',
  'data',
  'value',
  'update',
];
const TEXTS = [
  'text',
  'question',
  'query',
  'task',
  'instruction',
  'answer',
  'completion',
  'content',
  'output_text',
  'final_output',
];

function objectPayload(value: JsonObject, at: string, role: 'user' | 'assistant', depth: number): Payload {
  const about = { ...aboutOf(value), ...(role === 'user' ? { settings: requestSettings(value) } : {}) };
  const system = systemOf(value, at);
  const whole = (messages: FoundMessage[], more: Payload = { messages: [] }): Payload => ({
    ...more,
    ...about,
    messages: [...system, ...messages],
  });
  const choice = objectsOf(value.choices)[0] ?? objectsOf(value.candidates)[0];
  if (choice !== undefined) {
    const place = `${at}/${value.choices === undefined ? 'candidates' : 'choices'}/0`;
    const held = isJsonObject(choice.message) ? choice.message : isJsonObject(choice.content) ? choice.content : choice;
    const finish = idOf(choice.finish_reason ?? choice.finishReason ?? null);
    return { ...whole(anyMessages({ ...held, role: 'assistant' }, place)), ...(finish === null ? {} : { finish }) };
  }
  // LangChain's LLMResult: generations by prompt, then by sample.
  const generations = Array.isArray(value.generations) ? value.generations : [];
  const [sample] = objectsOf(Array.isArray(generations[0]) ? generations[0] : generations);
  if (sample !== undefined) {
    const info = objectIn(sample.generation_info);
    const finish = idOf(info.finish_reason ?? info.stop_reason ?? null);
    const held = isJsonObject(sample.message) ? sample.message : { content: sample.text ?? '' };
    const messages = anyMessages(held, `${at}/generations/0/0`).map((one) =>
      one.role === 'unknown' ? { ...one, role: 'assistant' } : one,
    );
    return {
      ...whole(messages),
      ...aboutOf(objectIn(value.llm_output)),
      ...(finish === null ? {} : { finish }),
    };
  }
  if (isMessage(value)) {
    const messages = anyMessages(value, at).map((one) => (one.role === 'unknown' ? { ...one, role } : one));
    return { ...whole(messages), ...about };
  }
  for (const key of LISTS) {
    const held = value[key];
    const list = typeof held === 'string' ? parsed(held) : held;
    if (Array.isArray(list) && list.length > 0) return whole(listMessages(list, `${at}/${key}`, role, depth + 1));
  }
  if (isJsonObject(value.message))
    return whole(
      anyMessages(value.message, `${at}/message`).map((one) => (one.role === 'unknown' ? { ...one, role } : one)),
    );
  for (const key of INNER) {
    const held = value[key];
    if (held === undefined || held === null || typeof held === 'number' || typeof held === 'boolean') continue;
    const inner = payloadIn(held, `${at}/${key}`, role, depth + 1);
    if (inner.messages.length > 0) return whole(inner.messages, inner);
  }
  for (const key of TEXTS)
    if (typeof value[key] === 'string') return whole(textPayload(value[key], `${at}/${key}`, role).messages);
  return whole([]);
}

const isMessage = (value: JsonObject): boolean =>
  (typeof value.role === 'string' || typeof value.from === 'string' || isLangChain(value)) &&
  ['content', 'parts', 'tool_calls', 'value', 'contents', 'data', 'kwargs'].some((key) => value[key] !== undefined);

/** LangChain names the role by a type. */
export const isLangChain = ({ type, lc, data, content }: JsonObject): boolean =>
  lc === 1 ||
  (typeof type === 'string' &&
    /^(?:human|ai|system|tool|function|chat|remove|developer|\w+MessageChunk)$/.test(type) &&
    (isJsonObject(data) || content !== undefined));

function systemOf(value: JsonObject, at: string): FoundMessage[] {
  for (const key of [
    'system',
    'system_instruction',
    'systemInstruction',
    'system_instructions',
    'instructions',
    'system_prompt',
  ]) {
    const held = value[key];
    if (held === undefined || held === null || value.role !== undefined) continue;
    // A response of the Responses API repeats its instructions.
    if (value.output !== undefined && value.input === undefined) continue;
    const text = isJsonObject(held) && Array.isArray(held.parts) ? contentText(held.parts) : contentText(held);
    if (text !== '') return [{ role: 'system', trained: false, texts: [{ pointer: `${at}/${key}`, text }] }];
  }
  return [];
}

function aboutOf(value: JsonObject): Partial<Payload> {
  const config = objectIn(value.config);
  const tools = value.tools ?? value.functions ?? value.tool_definitions ?? config.tools;
  const model = idOf(value.model ?? value.model_name ?? value.modelVersion ?? null);
  const finish = idOf(
    value.finish_reason ?? value.stop_reason ?? value.stopReason ?? value.finishReason ?? incomplete(value),
  );
  const usage = callUsage(value.usage ?? value.usage_metadata ?? value.usageMetadata ?? value.token_usage);
  return {
    ...(Array.isArray(tools) && tools.length > 0 ? { tools } : {}),
    ...(model === null ? {} : { model }),
    ...(finish === null ? {} : { finish }),
    ...(usage === null ? {} : { usage }),
  };
}

/** The Responses API names the reason of an incomplete response deeper. */
const incomplete = ({ incomplete_details: details, status }: JsonObject): string | null =>
  isJsonObject(details) && typeof details.reason === 'string'
    ? details.reason
    : status === 'incomplete'
      ? 'incomplete'
      : null;

const SETTINGS =
  /^(?:temperature|top_p|top_k|max_tokens|max_completion_tokens|max_output_tokens|seed|stop|frequency_penalty|presence_penalty|reasoning|reasoning_effort|thinking|tool_choice|parallel_tool_calls|response_format|n|stream)$/;

const requestSettings = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).filter(([key, one]) => SETTINGS.test(key) && one !== null && one !== undefined),
  );

const INPUT = [
  'input_tokens',
  'prompt_tokens',
  'inputTokens',
  'promptTokens',
  'prompt_token_count',
  'promptTokenCount',
  'input',
  'prompt',
];
const OUTPUT = [
  'output_tokens',
  'completion_tokens',
  'outputTokens',
  'completionTokens',
  'candidates_token_count',
  'candidatesTokenCount',
  'output',
  'completion',
];
const COST = ['total_cost', 'cost', 'totalCost', 'total'];

/** Tokens of a call in any writer's spelling; null if none are recorded. */
export function callUsage(value: JsonValue | undefined): CallUsage | null {
  const held = typeof value === 'string' ? parsed(value) : value;
  if (!isJsonObject(held)) return null;
  const first = (keys: readonly string[]): number | null =>
    keys.map((key) => numberOf(held[key])).find((one) => one !== null) ?? null;
  const usage = { input: first(INPUT), output: first(OUTPUT), cost: first(COST.slice(0, 3)) };
  return usage.input === null && usage.output === null && usage.cost === null ? null : usage;
}

/** A reply that its API splits into several items is one turn, unless a result is between them. */
function mergedReply(messages: readonly FoundMessage[]): FoundMessage[] {
  const merged: FoundMessage[] = [];
  for (const one of messages) {
    const before = merged.at(-1);
    if (one.role !== 'assistant' || before?.role !== 'assistant') merged.push(one);
    else
      merged[merged.length - 1] = {
        ...before,
        texts: [...before.texts, ...one.texts],
        ...(before.calls || one.calls ? { calls: [...(before.calls ?? []), ...(one.calls ?? [])] } : {}),
      };
  }
  return merged;
}
