import { isJsonObject, type JsonObject, type JsonValue, objectIn, plainJson } from '../../core/json/value.ts';
import type { ModelProtocol } from './protocol.ts';
import { jsonObjects, settingsBeside, textOrNull } from './values.ts';

/** Anthropic's messages. */
export const anthropicProtocol: ModelProtocol = {
  name: 'messages',
  path: '/messages',
  request(body) {
    if (!Array.isArray(body.messages)) return null;
    const { system } = body;
    const said = system === undefined || system === null || system === '' ? [] : [{ role: 'system', content: system }];
    return {
      messages: [...said, ...jsonObjects(body.messages)],
      tools: Array.isArray(body.tools) ? body.tools : null,
      model: textOrNull(body.model),
      settings: settingsBeside(body, ['messages', 'system', 'tools', 'model', 'stream']),
      isStreamed: body.stream === true,
      previous: null,
    };
  },
  reply(body) {
    if (body.role !== 'assistant' || !Array.isArray(body.content)) return null;
    return {
      messages: [{ role: 'assistant', content: body.content }],
      id: textOrNull(body.id),
      finish: textOrNull(body.stop_reason),
      usage: body.usage ?? null,
      tokens: null,
      isCut: false,
    };
  },
  streamed(events, isWhole) {
    const start = events.find(({ type }) => type === 'message_start');
    if (start === undefined) return null;
    const message = objectIn(start.message);
    const blocks: JsonObject[] = [];
    let finish: string | null = null;
    let usage: JsonValue = message.usage ?? null;
    let isEnded = false;
    for (const event of events) {
      const at = typeof event.index === 'number' ? event.index : 0;
      if (event.type === 'content_block_start' && isJsonObject(event.content_block))
        blocks[at] = { ...event.content_block };
      else if (event.type === 'content_block_delta' && isJsonObject(event.delta)) addDelta(blocks, at, event.delta);
      else if (event.type === 'message_delta') {
        if (isJsonObject(event.delta)) finish = textOrNull(event.delta.stop_reason) ?? finish;
        if (isJsonObject(event.usage)) usage = { ...objectIn(usage), ...event.usage };
      } else if (event.type === 'message_stop') isEnded = true;
    }
    return {
      messages: [{ role: 'assistant', content: blocks.filter((block) => block !== undefined).map(wholeBlock) }],
      id: textOrNull(message.id),
      finish,
      usage,
      tokens: null,
      isCut: !isEnded && !(isWhole && finish !== null),
    };
  },
  withTokens: (body) => body,
};

/** The field that each kind of delta appends to. */
const PIECES: Readonly<Record<string, string>> = {
  text: 'text',
  thinking: 'thinking',
  signature: 'signature',
  partial_json: 'partial_json',
};

function addDelta(blocks: JsonObject[], at: number, delta: JsonObject): void {
  const block = blocks[at] ?? { type: 'text', text: '' };
  blocks[at] = block;
  for (const [key, place] of Object.entries(PIECES)) {
    const piece = delta[key];
    if (typeof piece === 'string') block[place] = `${block[place] ?? ''}${piece}`;
  }
}

/** The input of a call arrives as pieces of JSON; a truncated one stays text. */
function wholeBlock({ partial_json, ...block }: JsonObject): JsonObject {
  if (typeof partial_json !== 'string' || partial_json === '') return block;
  try {
    return { ...block, input: plainJson(partial_json) };
  } catch {
    return { ...block, input: partial_json };
  }
}
