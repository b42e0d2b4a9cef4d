import { isJsonObject, type JsonObject, type JsonValue, stringIn } from '../json/value.ts';
import { lastItem } from '../lists/at.ts';
import { outcomeIn } from '../rollout/outcome.ts';
import type { FoundMessage, MessageCall, MessageText } from './build.ts';
import { contentText } from './content-text.ts';
import { idOf, objectsOf, parsed } from './values.ts';

/** The keys under which writers keep a message's reasoning. */
const THOUGHTS = ['reasoning_content', 'reasoning', 'thinking', 'thought'];

/** A message as in OpenAI's chat API, with common extensions; `at` is the JSON pointer of the message. */
export function chatMessage(message: JsonObject, at: string): FoundMessage {
  const texts: MessageText[] = [];
  const thought = THOUGHTS.find((key) => typeof message[key] === 'string' && message[key] !== '');
  if (thought !== undefined)
    texts.push({ pointer: `${at}/${thought}`, text: stringIn(message[thought]), isThought: true });
  else texts.push(...thoughtsOf(message, at));
  const place = ['content', 'value', 'text', 'parts'].find((key) => message[key] !== undefined) ?? 'content';
  texts.push({ pointer: `${at}/${place}`, text: contentText(message[place]) });
  const role = roleOfMessage(message.role ?? message.from);
  const said = role === 'function_call' ? parsed(lastItem(texts).text) : undefined;
  const calls = isJsonObject(said) ? [{ ...messageCall(said), raw: lastItem(texts).text }] : callsOf(message);
  const outcome = role === 'tool' ? outcomeIn(message, message.extra, message.metadata, message.artifact) : undefined;
  const answers = idOf(message.tool_call_id ?? message.tool_use_id ?? message.toolCallId ?? message.call_id);
  return {
    role,
    texts,
    ...(outcome === undefined ? {} : { outcome }),
    ...(calls.length > 0 ? { calls } : {}),
    ...(isJsonObject(said) ? { isCallText: true } : {}),
    answers,
    // An environment that has no role for results writes them as the user, with the call's id.
    ...(role === 'user' && answers !== null ? { isResult: true } : {}),
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
    const key = ['thinking', 'reasoning', 'think', 'text', 'content'].find((name) => typeof block[name] === 'string');
    return isThought && key !== undefined
      ? [{ pointer: `${at}/${blocks!.key}/${i}/${key}`, text: stringIn(block[key]), isThought: true }]
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

/** Maps role names of templates and writers to the usual ones; unknown roles stay as they are. */
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
    return [messageCall(value)];
  });
  if (calls.length > 0) return calls;
  if (isJsonObject(message.function_call)) return [messageCall(message.function_call)];
  return objectsOf(message.content ?? message.parts).flatMap((block) => {
    if (isJsonObject(block.functionCall)) return [messageCall(block.functionCall)];
    return CALL_BLOCKS.has(String(block.type)) ? [messageCall(block)] : [];
  });
}

/** `server_tool_use` and `mcp_tool_use` are calls run by Anthropic's server. */
const CALL_BLOCKS = new Set(['tool_use', 'server_tool_use', 'mcp_tool_use', 'toolCall', 'tool_call']);

/** One call in any writer's spelling. */
export function messageCall(call: JsonObject): MessageCall {
  const inner = isJsonObject(call.function) ? call.function : call;
  const named = inner.name ?? (typeof call.function === 'string' ? call.function : null) ?? call.function_name;
  const ids = [call.tool_call_id, call.call_id, call.toolCallId, call.toolUseId, call.callID];
  return {
    // Pydantic AI's parts have both; the part's is the provider's own.
    id: idOf((call.part_kind === undefined ? call.id : null) ?? ids.find((id) => typeof id === 'string') ?? call.id),
    name: idOf(named ?? call.tool_name ?? call.toolName ?? call.tool ?? null),
    arguments: inner.arguments ?? inner.input ?? inner.args ?? inner.parameters,
    ...(typeof call.parse_error === 'string' ? { error: call.parse_error } : {}),
  };
}
