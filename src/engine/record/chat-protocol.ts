import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import type { ModelProtocol, ModelReply } from './protocol.ts';
import { jsonObjects, settingsBeside, textOrNull } from './values.ts';

/** OpenAI's chat completions, which vLLM, SGLang and most gateways speak. */
export const chatProtocol: ModelProtocol = {
  name: 'chat',
  path: '/chat/completions',
  request(body) {
    if (!Array.isArray(body.messages)) return null;
    return {
      messages: jsonObjects(body.messages),
      tools: Array.isArray(body.tools) ? body.tools : null,
      model: textOrNull(body.model),
      settings: settingsBeside(body, ['messages', 'tools', 'model', 'stream', 'stream_options']),
      isStreamed: body.stream === true,
      previous: null,
    };
  },
  reply(body) {
    const choices = jsonObjects(body.choices);
    const messages = choices.flatMap(({ message }) => (isJsonObject(message) ? [message] : []));
    if (messages.length === 0) return null;
    return {
      messages,
      id: textOrNull(body.id),
      finish: textOrNull(choices[0]?.finish_reason),
      usage: body.usage ?? null,
      tokens: tokensIn(choices[0], body),
      isCut: false,
    };
  },
  streamed(events, isWhole) {
    const choices = new Map<number, Choice>();
    let usage: JsonValue = null;
    for (const event of events) {
      usage = event.usage ?? usage;
      for (const choice of jsonObjects(event.choices)) addDelta(choices, choice);
    }
    if (choices.size === 0) return null;
    const sorted = [...choices].sort(([a], [b]) => a - b).map(([, choice]) => choice);
    const [first] = sorted;
    return {
      messages: sorted.map(wholeMessage),
      id: textOrNull(events[0]?.id),
      finish: first?.finish ?? null,
      usage,
      tokens:
        first === undefined || first.ids.length === 0
          ? null
          : { ids: first.ids, logprobs: first.logprobs, promptIds: promptIds(events[0]) },
      isCut: !isWhole && sorted.some(({ finish }) => finish === null),
    };
  },
  withTokens: (body) => ({ ...body, logprobs: true, return_token_ids: true }),
};

interface Choice {
  message: JsonObject;
  calls: Map<number, { id: string | null; name: string; arguments: string }>;
  finish: string | null;
  ids: number[];
  logprobs: (number | null)[];
}

const newChoice = (): Choice => ({
  message: { role: 'assistant', content: '' },
  calls: new Map(),
  finish: null,
  ids: [],
  logprobs: [],
});

function addDelta(choices: Map<number, Choice>, choice: JsonObject): void {
  const index = typeof choice.index === 'number' ? choice.index : 0;
  const found: Choice = choices.get(index) ?? newChoice();
  choices.set(index, found);
  found.finish = textOrNull(choice.finish_reason) ?? found.finish;
  const delta = objectIn(choice.delta);
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'tool_calls') for (const part of jsonObjects(value)) addCall(found, part);
    else if (key !== 'role' && typeof value === 'string') found.message[key] = `${found.message[key] ?? ''}${value}`;
  }
  const { ids, logprobs } = idsIn(choice);
  found.ids.push(...ids);
  found.logprobs.push(...logprobs);
}

function addCall({ calls }: Choice, part: JsonObject): void {
  const index = typeof part.index === 'number' ? part.index : calls.size;
  const call = calls.get(index) ?? { id: null, name: '', arguments: '' };
  calls.set(index, call);
  const inner = objectIn(part.function);
  call.id = textOrNull(part.id) ?? call.id;
  call.name += textOrNull(inner.name) ?? '';
  call.arguments += textOrNull(inner.arguments) ?? '';
}

function wholeMessage({ message, calls }: Choice): JsonObject {
  if (calls.size === 0) return message;
  const listed = [...calls]
    .sort(([a], [b]) => a - b)
    .map(
      ([, { id, name, arguments: args }]): JsonValue => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      }),
    );
  return { ...message, tool_calls: listed };
}

/** vLLM lists `token_ids` beside each choice; there is one log probability per token. */
function idsIn(choice: JsonObject): { ids: number[]; logprobs: (number | null)[] } {
  const listed = Array.isArray(choice.token_ids) ? choice.token_ids.filter((id) => typeof id === 'number') : [];
  const { logprobs } = choice;
  const content = isJsonObject(logprobs) ? jsonObjects(logprobs.content) : [];
  const ids =
    listed.length > 0 ? listed : content.flatMap(({ token_id }) => (typeof token_id === 'number' ? [token_id] : []));
  const values = content.map(({ logprob }) => (typeof logprob === 'number' ? logprob : null));
  return { ids, logprobs: values.length === ids.length ? values : ids.map(() => null) };
}

const promptIds = (body: JsonObject | undefined): number[] | null =>
  Array.isArray(body?.prompt_token_ids) ? body.prompt_token_ids.filter((id) => typeof id === 'number') : null;

function tokensIn(choice: JsonObject | undefined, body: JsonObject): ModelReply['tokens'] {
  if (choice === undefined) return null;
  const { ids, logprobs } = idsIn(choice);
  if (ids.length === 0) return null;
  return { ids, logprobs: logprobs.every((value) => value === null) ? null : logprobs, promptIds: promptIds(body) };
}
