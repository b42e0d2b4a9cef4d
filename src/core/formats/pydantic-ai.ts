import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { endedByReason } from '../rollout/ended.ts';
import { anyMessages } from './any-message.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import type { Format } from './format.ts';
import { summed } from './langchain.ts';
import { callUsage } from './payload.ts';
import { idOf, objectsOf } from './values.ts';

const FIELDS = ['messages', 'all_messages', 'message_history', 'new_messages'];

/** Whether a list holds requests and responses of Pydantic AI. */
export const isPydanticAi = ({ kind, parts }: JsonObject): boolean =>
  (kind === 'request' || kind === 'response') &&
  Array.isArray(parts) &&
  parts.every((one) => isJsonObject(one) && typeof one.part_kind === 'string');

const messagesKey = (record: JsonObject): string | undefined =>
  FIELDS.find((field) => {
    const list = objectsOf(record[field]);
    return list.length > 0 && list.every(isPydanticAi);
  });

/** Message histories of Pydantic AI (`ModelMessagesTypeAdapter`). */
export const pydanticAi: Format = messageFormat({
  name: 'pydantic-ai',
  isUntrained: true,
  basis: 'files',
  mapping: {
    turns: 'parts of requests, and responses as a whole',
    system: 'system-prompt parts, or instructions',
    uid: 'run_id',
  },
  detects: (record) => messagesKey(record) !== undefined,
  find(record) {
    const field = messagesKey(record) ?? 'messages';
    const list = objectsOf(record[field]);
    const messages: FoundMessage[] = [];
    let instructions = '';
    for (const [i, one] of list.entries()) {
      const at = `/${field}/${i}`;
      const said = typeof one.instructions === 'string' ? one.instructions : '';
      if (said !== '' && said !== instructions) {
        messages.push({ role: 'system', trained: false, texts: [{ pointer: `${at}/instructions`, text: said }] });
        instructions = said;
      }
      if (one.kind === 'response') messages.push(...anyMessages({ role: 'assistant', parts: one.parts ?? [] }, at));
      else
        for (const [j, part] of objectsOf(one.parts).entries())
          messages.push(...anyMessages({ role: partRole(part), ...partContent(part) }, `${at}/parts/${j}`));
    }
    const replies = list.filter(({ kind }) => kind === 'response');
    const last = replies.at(-1);
    const finish = idOf(last?.finish_reason ?? null);
    const models = [...new Set(replies.flatMap(({ model_name: name }) => idOf(name ?? null) ?? []))];
    return {
      known: new Set([field]),
      messages,
      hasCallsApart: true,
      uid: idOf(record.id ?? record.run_id ?? list.find(({ run_id: id }) => typeof id === 'string')?.run_id ?? null),
      status: idOf(record.status ?? null),
      ended: finish === null ? null : endedByReason('finish', finish),
      extras: {
        ...(models.length === 0 ? {} : { model: models.length === 1 ? models[0] : models }),
        // Zero is what the SDK writes where the provider named none.
        ...summed(
          replies
            .flatMap(({ usage }) => callUsage(usage) ?? [])
            .filter(({ input, output }) => input !== 0 || output !== 0),
        ),
      },
    };
  },
});

const partRole = ({ part_kind: kind, tool_name: tool }: JsonObject): string =>
  kind === 'system-prompt' || kind === 'instructions'
    ? 'system'
    : kind === 'tool-return' || (kind === 'retry-prompt' && typeof tool === 'string')
      ? 'tool'
      : 'user';

/** A prompt is a text or a list of texts and media; anything else is a part as it is. */
function partContent(part: JsonObject): JsonObject {
  const { part_kind: kind, content } = part;
  if (kind === 'tool-return' || (kind === 'retry-prompt' && typeof part.tool_name === 'string'))
    return { parts: [part] };
  return { content: Array.isArray(content) ? content.map((one): JsonValue => one) : (content ?? '') };
}
