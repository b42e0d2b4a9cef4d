import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import type { ModelProtocol, ModelReply } from './protocol.ts';
import { jsonObjects, settingsBeside, textOrNull } from './values.ts';

/** OpenAI's responses: items instead of messages. They are stored as chat messages, with reasoning beside the text. */
export const responsesProtocol: ModelProtocol = {
  name: 'responses',
  path: '/responses',
  request(body) {
    const { input, instructions } = body;
    if (input === undefined && body.previous_response_id === undefined) return null;
    const items: JsonObject[] = typeof input === 'string' ? [{ role: 'user', content: input }] : jsonObjects(input);
    const said =
      typeof instructions === 'string' && instructions !== '' ? [{ role: 'system', content: instructions }] : [];
    return {
      messages: [...said, ...messagesOfItems(items)],
      tools: Array.isArray(body.tools) ? body.tools : null,
      model: textOrNull(body.model),
      settings: settingsBeside(body, ['input', 'instructions', 'tools', 'model', 'stream', 'previous_response_id']),
      isStreamed: body.stream === true,
      previous: textOrNull(body.previous_response_id),
    };
  },
  reply: replyOf,
  streamed(events, isWhole) {
    const last = events.findLast(
      ({ response, type }) => isJsonObject(response) && type !== 'response.created' && type !== 'response.in_progress',
    );
    if (last !== undefined && isJsonObject(last.response)) return replyOf(last.response);
    const items = events
      .filter(({ type }) => type === 'response.output_item.done')
      .flatMap(({ item }) => (isJsonObject(item) ? [item] : []));
    const text = events
      .filter(({ type }) => type === 'response.output_text.delta')
      .map(({ delta }) => textOrNull(delta) ?? '')
      .join('');
    const known: JsonObject[] =
      items.length > 0 ? items : text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }];
    const first = events.find(({ response }) => isJsonObject(response))?.response;
    if (known.length === 0 && first === undefined) return null;
    const reply = replyOf({ ...objectIn(first), output: known, status: null });
    return reply === null ? null : { ...reply, isCut: !isWhole || known.length === 0 };
  },
  withTokens: (body) => ({
    ...body,
    include: [...(Array.isArray(body.include) ? body.include : []), 'message.output_text.logprobs'],
  }),
};

function replyOf(body: JsonObject): ModelReply | null {
  if (!Array.isArray(body.output)) return null;
  const incomplete = isJsonObject(body.incomplete_details) ? textOrNull(body.incomplete_details.reason) : null;
  return {
    messages: messagesOfItems(jsonObjects(body.output)).filter(({ role }) => role === 'assistant'),
    id: textOrNull(body.id),
    finish: incomplete ?? textOrNull(body.status),
    usage: body.usage ?? null,
    tokens: null,
    isCut: false,
  };
}

/** Adjacent items of the model form one message: its reasoning, its text, its calls. */
function messagesOfItems(items: readonly JsonObject[]): JsonObject[] {
  const messages: JsonObject[] = [];
  let open: JsonObject | null = null;
  const reply = (): JsonObject => {
    if (open === null) {
      open = { role: 'assistant', content: '' };
      messages.push(open);
    }
    return open;
  };
  for (const item of items) {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      const message = reply();
      const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
      const call: JsonValue = {
        id: item.call_id ?? item.id ?? null,
        type: 'function',
        function: { name: item.name ?? null, arguments: item.arguments ?? item.input ?? null },
      };
      message.tool_calls = [...calls, call];
    } else if (item.type === 'reasoning') {
      const parts = [...jsonObjects(item.summary), ...jsonObjects(item.content)];
      reply().reasoning_content = parts.map(({ text }) => textOrNull(text) ?? '').join('\n');
    } else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      open = null;
      messages.push({ role: 'tool', tool_call_id: item.call_id ?? null, content: item.output ?? '' });
    } else if (item.role === 'assistant') {
      const message = reply();
      message.content = `${textOrNull(message.content) ?? ''}${itemText(item.content)}`;
    } else if (item.role !== undefined) {
      open = null;
      messages.push({ role: item.role === 'developer' ? 'system' : item.role, content: item.content ?? '' });
    }
  }
  return messages;
}

const itemText = (content: JsonValue | undefined): string =>
  typeof content === 'string'
    ? content
    : jsonObjects(content)
        .map(({ text, refusal }) => textOrNull(text) ?? textOrNull(refusal) ?? '')
        .join('');
