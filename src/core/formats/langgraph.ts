import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { configurable, isSnapshot, langchainRollout, snapshotThread } from './langchain.ts';
import { isStreamed, streamedRollout, streamedRun } from './langgraph-stream.ts';
import { traceSeconds } from './spans.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

/**
 * LangGraph's snapshots of a thread (`get_state_history`, or the server's `threads/…/history`); each repeats the messages so far; or
 * the parts of its streams `updates` and `values`.
 */
export const langgraph: Session = {
  name: 'langgraph',
  isEvent: (record) => isSnapshot(record) || isStreamed(record),
  keyOf: (event) => (isSnapshot(event) ? snapshotThread(event) : streamedRun(event)),
  // A document that is one snapshot is a session, too.
  eventsOf: (record) => [record],
};

export const langgraphFormat: Format = {
  name: 'langgraph',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'values.messages of the newest snapshot; the messages of streamed updates and values, each once',
    uid: 'config.configurable.thread_id, or checkpoint.thread_id',
    status: 'error, if a task of the newest snapshot failed',
    'states apart': 'snapshots whose messages do not begin the newest: branches, and histories that were cut since',
  },
  detects: (record) => record.session_of === 'langgraph',
  read(record, context) {
    const events = objectsOf(record.events);
    if (!events.some(isSnapshot)) return streamedRollout(record, events, context);
    const [newest = 0] = events.map((_, at) => at).sort((a, b) => laterFirst(events, a, b));
    const snapshot = events[newest] ?? {};
    const messages = stateMessages(snapshot);
    const keys = messages.map(keyOfMessage);
    const apart = events.filter((one) => stateMessages(one).some((message, at) => keyOfMessage(message) !== keys[at]));
    const failed = objectsOf(snapshot.tasks).flatMap(({ error }) => idOf(error ?? null) ?? []);
    const next = Array.isArray(snapshot.next) ? snapshot.next : [];
    return langchainRollout(
      {
        format: 'langgraph',
        record,
        known: new Set(['session_of', 'events']),
        uid: idOf(configurable(snapshot).thread_id ?? null),
        status: failed.length > 0 ? 'error' : null,
        extras: {
          snapshots: events.length,
          ...(apart.length === 0 ? {} : { states_apart: apart.length }),
          ...(next.length === 0 ? {} : { next }),
          ...(failed[0] === undefined ? {} : { error: failed[0] }),
        },
      },
      messages,
      `/events/${newest}/values/messages`,
      context,
    );
  },
};

const stateMessages = ({ values }: JsonObject): JsonObject[] =>
  isJsonObject(values) ? objectsOf(values.messages) : [];

function laterFirst(snapshots: readonly JsonObject[], a: number, b: number): number {
  const [one = {}, other = {}] = [snapshots[a], snapshots[b]];
  const seconds = (snapshot: JsonObject) => traceSeconds(snapshot.created_at ?? snapshot.createdAt);
  const step = ({ metadata }: JsonObject) => (isJsonObject(metadata) ? numberOf(metadata.step) : null);
  return (
    (seconds(other) ?? 0) - (seconds(one) ?? 0) ||
    (step(other) ?? 0) - (step(one) ?? 0) ||
    stateMessages(other).length - stateMessages(one).length ||
    a - b
  );
}

/** The parts that make a message the same in two snapshots: its words and calls, as ids may be missing. */
function keyOfMessage(message: JsonObject): string {
  const held = isJsonObject(message.kwargs) ? message.kwargs : isJsonObject(message.data) ? message.data : message;
  const parts: (JsonValue | undefined)[] = [message.type ?? message.role, held.content, held.tool_calls];
  return printJson(parts.map((part) => part ?? null));
}
