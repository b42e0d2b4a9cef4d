import { isJsonObject, type JsonObject } from '../json/value.ts';
import { anyMessages } from './any-message.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { summed } from './langchain.ts';
import { callUsage } from './payload.ts';
import { timesBetween } from './span-times.ts';
import { traceSeconds } from './spans.ts';
import { idOf, objectsOf, parsed } from './values.ts';

/** An event has an author and an invocation, by the SDK's names or by their aliases. */
const isEvent = (one: JsonObject): boolean =>
  typeof one.author === 'string' && (one.invocationId ?? one.invocation_id) !== undefined;

/** Rows of the table `events` of the SDK's database. */
export const adkRows: Session = {
  name: 'google-adk',
  isEvent: (record) => isEvent(record) && record.session_id !== undefined,
  keyOf: ({ app_name: app, user_id: user, session_id: session }) =>
    [app, user, session].map((one) => idOf(one ?? null) ?? '').join(' '),
};

/** Sessions of Google's Agent Development Kit: `Session` as JSON in both spellings, and its database. */
export const adk: Format = messageFormat({
  name: 'google-adk',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'events[].content',
    'results of tools': 'function_response parts',
    uid: 'id',
    errors: 'error_code, error_message',
  },
  detects: (record) =>
    record.session_of === adkRows.name ||
    (Array.isArray(record.events) &&
      (record.appName ?? record.app_name) !== undefined &&
      record.events.every((one) => isJsonObject(one) && isEvent(one))),
  find(record) {
    const events = objectsOf(record.events);
    const messages: FoundMessage[] = [];
    const errors: string[] = [];
    const moments: number[] = [];
    for (const [i, event] of events.entries()) {
      const held = typeof event.content === 'string' ? parsed(event.content) : event.content;
      const at = traceSeconds(event.timestamp);
      if (at !== null) moments.push(at);
      const [code, said] = [
        idOf(event.errorCode ?? event.error_code ?? null),
        idOf(event.errorMessage ?? event.error_message ?? null),
      ];
      if (code !== null || said !== null) errors.push([code, said].filter((word) => word !== null).join(': '));
      // Pieces of a streamed event that follows whole.
      if (event.partial === true || event.partial === 1 || !isJsonObject(held)) continue;
      const role = event.author === 'user' ? 'user' : held.role === 'user' ? 'user' : 'assistant';
      messages.push(...anyMessages({ ...held, role }, `/events/${i}/content`));
    }
    const uid = idOf(record.id ?? events[0]?.session_id ?? null);
    const authors = [
      ...new Set(events.flatMap(({ author }) => (author === 'user' ? [] : [idOf(author ?? null) ?? '']))),
    ];
    return {
      known: new Set(['session_of', 'events']),
      messages,
      hasCallsApart: true,
      uid,
      status: errors.length > 0 ? 'error' : null,
      ended: errors.length > 0 ? { how: 'aborted', evidence: errors.at(-1)?.slice(0, 60) ?? 'error' } : null,
      extras: {
        ...(authors.length > 0 ? { agents: authors } : {}),
        ...summed(events.flatMap((event) => callUsage(event.usageMetadata ?? event.usage_metadata) ?? [])),
        ...(errors.length > 0 ? { errors } : {}),
      },
      times: timesBetween(moments),
    };
  },
});
