import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { itemAt } from '../lists/at.ts';
import type { Rollout } from '../rollout/rollout.ts';
import type { ReadContext } from './format.ts';
import { areLangChain, langchainRollout } from './langchain.ts';
import { idOf, objectsOf } from './values.ts';

/** Keys beside which `messages` are no update of a node: a checkpoint's state, a data set's example, a run. */
const NO_NODES = new Set([
  'values',
  'channel_values',
  'state',
  'input',
  'inputs',
  'output',
  'outputs',
  'kwargs',
  'data',
]);
const STREAMS = /^(?:updates|values|metadata|end|error|debug|custom|tasks|checkpoints|messages(?:\/\w+)?)(?:\|.*)?$/;

/** A part of a stream as the server sends it, `{event, data}`, or as the library yields it with its version 2, `{type, ns, data}`. */
function wrapped(record: JsonObject): { stream: string; data: JsonValue } | null {
  const stream = record.event ?? (record.ns === undefined ? undefined : record.type);
  return typeof stream === 'string' && STREAMS.test(stream) && record.data !== undefined
    ? { stream: stream.replace(/\|.*$/, ''), data: record.data }
    : null;
}

/** The values that the nodes of a step wrote: an object by node. Nodes that wrote nothing are null, several writes of one are a list. */
function isUpdate(value: JsonValue | undefined): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.every(([key, one]) => !NO_NODES.has(key) && (one === null || typeof one === 'object')) &&
    entries.some(([, one]) => writesOf(one).some(({ messages }) => areLangChain(streamedMessages(messages))))
  );
}

const writesOf = (value: JsonValue): JsonObject[] =>
  isJsonObject(value) ? [value] : Array.isArray(value) ? objectsOf(value) : [];

/** A node may return a single message. */
const streamedMessages = (value: JsonValue | undefined): JsonObject[] =>
  isJsonObject(value) ? [value] : objectsOf(value);

export function isStreamed(record: JsonObject): boolean {
  const part = wrapped(record);
  if (part === null) return isUpdate(record);
  const { stream, data } = part;
  if (stream === 'updates') return isUpdate(data);
  if (!isJsonObject(data)) return false;
  return stream === 'values' ? areLangChain(data.messages) : stream === 'metadata' && data.run_id !== undefined;
}

/** The run that a part of a stream begins. */
export function streamedRun(event: JsonObject): string | null {
  const part = wrapped(event);
  return part?.stream === 'metadata' && isJsonObject(part.data) ? idOf(part.data.run_id ?? null) : null;
}

/** The messages of a stream, as the graph's state took them: one whose id is known replaces it, and one may remove another. */
export function streamedRollout(record: JsonObject, events: readonly JsonObject[], context: ReadContext): Rollout {
  const list: JsonObject[] = [];
  let removed = 0;
  const run = events.map(streamedRun).find((one) => one !== null) ?? null;
  const take = (message: JsonObject, node: string | null): void => {
    const id = idOf(heldBy(message).id ?? null);
    const known = id === null ? -1 : list.findIndex((one) => heldBy(one).id === id);
    if (message.type === 'remove') removed++;
    else if (known === -1) list.push(node === null ? message : { ...message, node });
    else list[known] = { ...itemAt(list, known), ...message };
  };
  for (const event of events) {
    const part = wrapped(event);
    if (part?.stream === 'values' && isJsonObject(part.data))
      for (const message of objectsOf(part.data.messages)) take(message, null);
    const update = part === null ? event : part.stream === 'updates' ? part.data : null;
    if (isUpdate(update ?? undefined) && isJsonObject(update))
      for (const [node, held] of Object.entries(update))
        for (const { messages } of writesOf(held))
          for (const message of streamedMessages(messages)) take(message, node);
  }
  const failed = events.map(wrapped).find((part) => part?.stream === 'error');
  return langchainRollout(
    {
      format: 'langgraph',
      record,
      known: new Set(['session_of', 'events']),
      uid: run,
      status: failed === undefined ? null : 'error',
      extras: {
        updates: events.length,
        ...(removed === 0 ? {} : { removed_messages: removed }),
        ...(failed === undefined ? {} : { error: failed?.data ?? null }),
      },
    },
    list,
    '/events#messages',
    context,
  );
}

/** `dumps` and `messages_to_dict` put a message's values deeper. */
const heldBy = ({ kwargs, data, ...message }: JsonObject): JsonObject =>
  isJsonObject(kwargs) ? kwargs : isJsonObject(data) ? data : message;
