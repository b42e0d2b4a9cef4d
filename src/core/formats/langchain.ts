import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import { endedByReason } from '../rollout/ended.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { messagesOf } from './any-message.ts';
import { buildRollout, type FoundRollout } from './build.ts';
import type { Format, ReadContext } from './format.ts';
import { type CallUsage, callUsage, isLangChain } from './payload.ts';
import { idOf, objectsOf } from './values.ts';

/** LangChain's and LangGraph's messages: `messages_to_dict`, `dumps`, or as dicts; a graph's state holds them as `messages`. */
export const langchain: Format = {
  name: 'langchain',
  isUntrained: true,
  basis: 'files',
  mapping: {
    turns: 'messages (data or kwargs of each)',
    calls: 'tool_calls and invalid_tool_calls',
    ended: 'response_metadata.finish_reason',
  },
  detects: (record) => !isSnapshot(record) && areLangChain(graphState(record).messages),
  read(record, context) {
    const state = graphState(record);
    const list = objectsOf(state.messages);
    const at =
      state === record ? '/messages' : record.values === state ? '/values/messages' : '/channel_values/messages';
    return langchainRollout(
      {
        format: 'langchain',
        record,
        known: new Set(['messages', 'values', 'channel_values']),
        uid: idOf(record.id ?? record.thread_id ?? null),
      },
      list,
      at,
      context,
    );
  },
};

/** The rollout of a list of messages that lies at this pointer. */
export function langchainRollout(
  about: Omit<FoundRollout, 'messages'>,
  list: readonly JsonObject[],
  at: string,
  context: ReadContext,
): Rollout {
  const held = list.map((one) => (isJsonObject(one.kwargs) ? one.kwargs : isJsonObject(one.data) ? one.data : one));
  const replies = held.flatMap(({ response_metadata: one }) =>
    isJsonObject(one) && Object.keys(one).length > 0 ? [one] : [],
  );
  const finish = idOf(replies.at(-1)?.finish_reason ?? replies.at(-1)?.stop_reason ?? null);
  const models = [...new Set(replies.flatMap((one) => idOf(one.model_name ?? one.model ?? null) ?? []))];
  return buildRollout(
    {
      ...about,
      messages: messagesOf([...list], at),
      hasCallsApart: true,
      ended: finish === null ? null : endedByReason('finish', finish),
      extras: {
        ...(models.length === 0 ? {} : { model: models.length === 1 ? models[0] : models }),
        ...summed(held.flatMap((one) => callUsage(one.usage_metadata) ?? [])),
        ...about.extras,
      },
    },
    context,
  );
}

/** One of the snapshots of a thread, which each repeat what was there before. */
export const isSnapshot = (record: JsonObject): boolean =>
  isJsonObject(record.values) && Array.isArray(record.next) && snapshotThread(record) !== null;

/** The thread, and the subgraph within it that has separate state. */
export function snapshotThread(snapshot: JsonObject): string | null {
  const { thread_id: thread, checkpoint_ns: within } = configurable(snapshot);
  const id = idOf(thread ?? null);
  return id === null || typeof within !== 'string' || within === '' ? id : `${id} ${within}`;
}

export function configurable({ config, checkpoint }: JsonObject): JsonObject {
  const held = isJsonObject(config) ? config.configurable : checkpoint;
  return objectIn(held);
}

/** A checkpoint or a thread's state holds the messages deeper. */
function graphState(record: JsonObject): JsonObject {
  for (const key of ['values', 'channel_values'] as const) {
    const inner = record[key];
    if (record.messages === undefined && isJsonObject(inner) && Array.isArray(inner.messages)) return inner;
  }
  return record;
}

export const areLangChain = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isJsonObject(one) && isLangChain(one));

/** Tokens of all replies. */
export function summed(usages: readonly CallUsage[]): JsonObject {
  if (usages.length === 0) return {};
  const sum = (key: keyof CallUsage): number | null =>
    usages.reduce<number | null>((all, one) => (one[key] === null ? all : (all ?? 0) + one[key]), null);
  const cost = sum('cost');
  return { usage: { input_tokens: sum('input'), output_tokens: sum('output') }, ...(cost === null ? {} : { cost }) };
}
