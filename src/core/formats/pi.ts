import { isJsonObject, type JsonObject, type JsonValue, stringIn } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { chatMessage } from './openai-message.ts';
import { sessionTimes } from './recorded-times.ts';
import { idOf, objectsOf } from './values.ts';

/** pi's session (`packages/coding-agent`): one message per line, with model changes in between. */
export const pi: Session = {
  name: 'pi',
  isEvent: (record) =>
    (record.type === 'session' &&
      record.timestamp !== undefined &&
      (record.cwd !== undefined || record.id !== undefined)) ||
    (record.type === 'message' &&
      isJsonObject(record.message) &&
      record.message.role !== undefined &&
      record.sessionId === undefined),
  keyOf: () => null,
};

export const piFormat: Format = messageFormat({
  name: 'pi',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'lines of the type message',
    calls: 'parts of the type toolCall',
    contexts: 'lines of the type compaction; forks of parentId',
  },
  detects: (record) => record.session_of === pi.name,
  times: sessionTimes,
  find(record) {
    const events = objectsOf(record.events);
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [{ kind: 'main', name: null, after: null }];
    let session: JsonObject = {};
    let reason: string | null = null;
    let main = 0;
    const forks = leftForks(events);
    const placeOf = new Map<JsonObject, number>();
    const open = (kind: Context['kind'], after = messages.length - 1) =>
      contexts.push({ kind, name: null, after: after < 0 ? null : after }) - 1;
    const turnOf = new Map<JsonValue | undefined, number>();
    for (const [at, event] of events.entries()) {
      const lost = lostMessage(event, `/events/${at}`);
      if (lost !== null) messages.push({ ...lost, context: main });
      if (event.type === 'session') session = event;
      const fork = forks.get(event);
      if (fork !== undefined && !placeOf.has(fork)) placeOf.set(fork, open('branch', turnOf.get(fork.parentId) ?? -1));
      if (event.type === 'compaction' && fork === undefined) main = open('compaction');
      const context = fork === undefined ? main : (placeOf.get(fork) as number);
      turnOf.set(event.id, event.type === 'message' ? messages.length : (turnOf.get(event.parentId) ?? -1));
      if ((event.type === 'compaction' || event.type === 'branch_summary') && typeof event.summary === 'string')
        messages.push({
          role: 'user',
          trained: false,
          context,
          texts: [{ pointer: `/events/${at}/summary`, text: event.summary }],
        });
      if (event.type !== 'message' || !isJsonObject(event.message)) continue;
      const { message } = event;
      const one = chatMessage(message, `/events/${at}/message`);
      if (one.role === 'assistant') reason = idOf(message.stopReason) ?? reason;
      const isRun = message.role === 'bashExecution';
      const text = typeof message.output === 'string' ? message.output : '';
      const shown = isRun
        ? {
            ...one,
            texts: [{ pointer: `/events/${at}/message/output`, text: `$ ${idOf(message.command) ?? ''}\n${text}` }],
          }
        : one;
      const failed = typeof message.errorMessage === 'string' && shown.texts.every((piece) => piece.text === '');
      if (failed)
        shown.texts = [{ pointer: `/events/${at}/message/errorMessage`, text: `[${stringIn(message.errorMessage)}]` }];
      messages.push({ ...shown, context, ...(failed ? { trained: false } : {}) });
    }
    const { type: _type, ...shown } = session;
    return {
      known: new Set(['session_of', 'events']),
      messages,
      hasCallsApart: true,
      contexts,
      uid: idOf(session.id),
      extras: { ...shown, ...(reason === null ? {} : { stop_reason: reason }) },
    };
  },
});

/**
 * The lines that are not ancestors of the last one, each with the first line of its branch. Parents may be missing or
 * form a cycle.
 */
function leftForks(events: readonly JsonObject[]): Map<JsonObject, JsonObject> {
  const byId = new Map(events.flatMap((one) => (typeof one.id === 'string' ? [[one.id, one] as const] : [])));
  const parentOf = (one: JsonObject) => (typeof one.parentId === 'string' ? byId.get(one.parentId) : undefined);
  const way = new Set<JsonObject>();
  for (let one = events.findLast(({ id }) => id !== undefined); one !== undefined && !way.has(one); one = parentOf(one))
    way.add(one);
  const left = new Map<JsonObject, JsonObject>();
  for (const event of events) {
    const parent = parentOf(event);
    if (parent === undefined || way.has(event)) continue;
    const root = way.has(parent) ? event : left.get(parent);
    if (root !== undefined) left.set(event, root);
  }
  return left;
}
