import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { outcomeIn, type RecordedOutcome } from '../rollout/outcome.ts';
import type { FoundMessage, MessageCall, MessageText } from './build.ts';
import { contentText } from './content-text.ts';
import { roleOfMessage } from './openai-message.ts';
import { idOf, parsed } from './values.ts';

/** A reply consisting only of calls: in OpenAI's Responses API a call is a separate item, not a message. */
const CALL_ROLE = 'function_call';

/**
 * Items of OpenAI's Responses API as messages: reasoning belongs to the reply or the calls after it, calls to the reply
 * before them, outputs are tool turns. @param at the JSON pointer of the list
 */
export function responseMessages(items: readonly JsonObject[], at: string): FoundMessage[] {
  const messages: FoundMessage[] = [];
  let thoughts: MessageText[] = [];
  /** The reply to which further calls may belong. */
  let open: FoundMessage | null = null;
  for (const [i, item] of items.entries()) {
    const place = `${at}/${i}`;
    const type = idOf(item.type) ?? 'message';
    if (type === 'reasoning') {
      thoughts.push(...reasoningOf(item, place));
      open = null;
    } else if (/_output$/.test(type)) {
      messages.push({
        role: 'tool',
        answers: idOf(item.call_id ?? item.id),
        texts: [outputOf(item, place)],
        trained: false,
        outcome: outputOutcome(item),
      });
      open = null;
    } else if (/_call$/.test(type)) {
      if (open === null) {
        open = { role: CALL_ROLE, texts: thoughts, calls: [] };
        thoughts = [];
        messages.push(open);
      }
      open.calls = [...(open.calls ?? []), itemCall(item, type)];
      const result = ownResult(item, type, place);
      if (result === null) continue;
      messages.push({
        role: 'tool',
        answers: idOf(item.call_id ?? item.id),
        texts: [result],
        trained: false,
        outcome: hostedOutcome(item),
      });
      open = null;
    } else if (item.role !== undefined || item.content !== undefined) {
      const role = roleOfMessage(item.role ?? (type === 'message' ? 'assistant' : type));
      const message: FoundMessage = {
        role,
        texts: [...thoughts, { pointer: `${place}/content`, text: contentText(item.content) }],
      };
      thoughts = [];
      messages.push(message);
      open = role === 'assistant' ? message : null;
    }
  }
  if (thoughts.length > 0) messages.push({ role: CALL_ROLE, texts: thoughts });
  return messages;
}

function reasoningOf(item: JsonObject, place: string): MessageText[] {
  const texts: MessageText[] = [];
  for (const key of ['content', 'summary'] as const) {
    const list = Array.isArray(item[key]) ? item[key] : typeof item[key] === 'string' ? [{ text: item[key] }] : [];
    for (const [i, part] of list.entries())
      if (isJsonObject(part) && typeof part.text === 'string' && part.text !== '')
        texts.push({ pointer: `${place}/${key}/${i}/text`, text: part.text, isThought: true });
    if (texts.length > 0) return texts;
  }
  return texts;
}

/** A tool run by the provider has its result in the item of its call. */
function ownResult(item: JsonObject, type: string, place: string): MessageText | null {
  const key = HOSTED[type];
  const held = key === undefined ? undefined : (item[key] ?? (isJsonObject(item.error) ? item.error : undefined));
  if (key === undefined || held === undefined || held === null) return null;
  const text = type === 'image_generation_call' ? contentText({ type: 'image', data: held }) : contentText(held);
  return { pointer: `${place}/${key}`, text: text === '' && held !== '' ? printJson(held) : text };
}

const HOSTED: Record<string, string> = {
  mcp_call: 'output',
  code_interpreter_call: 'outputs',
  file_search_call: 'results',
  image_generation_call: 'result',
};

function outputOf(item: JsonObject, place: string): MessageText {
  const { output } = item;
  const value = output ?? item.content ?? item.result ?? item.tools ?? null;
  // Codex's older sessions store a JSON text of `{"output": …, "metadata": …}` there.
  const text =
    typeof value === 'string' || Array.isArray(value)
      ? contentText(value)
      : isJsonObject(value)
        ? objectText(value)
        : '';
  return {
    pointer: `${place}/output`,
    text: text === '' && value !== null && value !== '' && !Array.isArray(value) ? printJson(value) : text,
  };
}

/** mini-swe-agent records it under `extra`. Codex records how the command ended beside or inside an output; newer versions do so in a line before the output, which is part of the text. */
function outputOutcome(item: JsonObject): RecordedOutcome | undefined {
  const { output } = item;
  const held = typeof output === 'string' && /^\s*\{/.test(output) ? parsed(output) : output;
  const metadata = isJsonObject(held) ? held.metadata : undefined;
  const success = isJsonObject(held) ? { success: held.success ?? null } : null;
  return outcomeIn({ ...item, status: null }, success, metadata, item.extra);
}

/** A tool run by the provider: `completed` only means that the item is complete. */
const hostedOutcome = ({ status = null, error = null }: JsonObject): RecordedOutcome | undefined =>
  outcomeIn({ status: status === 'incomplete' ? 'failed' : status, error });

function objectText(value: JsonObject): string {
  const text = contentText(value);
  if (text !== '') return text;
  return isJsonObject(value.output) || typeof value.output === 'string' ? contentText(value.output) : '';
}

function itemCall(item: JsonObject, type: string): MessageCall {
  const args: JsonValue | undefined = item.arguments ?? item.input ?? item.action ?? item.code ?? item.queries;
  const name = idOf(item.name) ?? type.replace(/_call$/, '');
  const isFree = type === 'custom_tool_call' && typeof args === 'string';
  return {
    id: idOf(item.call_id ?? item.id),
    name,
    arguments:
      isFree && !args.trim().startsWith('{')
        ? { input: args }
        : type === 'code_interpreter_call' && typeof args === 'string'
          ? { code: args }
          : args,
    ...(isFree ? { raw: args } : {}),
  };
}
