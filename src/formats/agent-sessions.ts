import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import type { Context } from '../rollout/rollout.ts';
import { responseText } from './blocks.ts';
import { buildRollout, chatMessage, type FoundMessage, objectsOf } from './build.ts';
import type { Format, Session } from './format.ts';
import { contentText } from './parts.ts';
import { sessionTimes } from './recorded-times.ts';
import { responseMessages } from './responses.ts';
import { idOf } from './scalars.ts';

const CODEX = new Set('session_meta turn_context response_item event_msg compacted world_state'.split(' '));
const ITEMS = /^(?:message|reasoning|.+_call|.+_call_output|.+_output)$/;

/** Codex' `rollout-*.jsonl`: lines of a type and a payload; before 2025-09 the items themselves. */
export const codex: Session = {
  name: 'codex',
  isEvent: (record) =>
    (typeof record.type === 'string' && CODEX.has(record.type) && isJsonObject(record.payload)) ||
    record.record_type === 'state' ||
    // The lines that `codex exec --json` prints.
    (record.type === 'thread.started' && record.thread_id !== undefined) ||
    (record.type === 'item.completed' && isJsonObject(record.item)) ||
    (typeof record.id === 'string' &&
      record.instructions !== undefined &&
      record.timestamp !== undefined &&
      record.type === undefined) ||
    (typeof record.type === 'string' &&
      ITEMS.test(record.type) &&
      (Array.isArray(record.content) || Array.isArray(record.summary) || record.call_id !== undefined)),
  // A fork or a resumed session repeats the head of the one before; the file is one rollout.
  keyOf: () => null,
};

export const codexFormat: Format = {
  name: 'codex',
  isStepless: true,
  quickKeys: null,
  basis: 'files',
  mapping: {
    turns: 'response_item; event_msg repeats them and is left out; of `codex exec --json` item.completed',
    calls: 'items of a type that ends in _call',
    contexts: 'compacted',
    system: 'session_meta.instructions',
  },
  detects: (record) => record.session_of === codex.name,
  times: sessionTimes,
  read(record, context) {
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [{ kind: 'main', name: null, after: null }];
    let items: JsonObject[] = [];
    let from = 0;
    let meta: JsonObject = {};
    let model: string | null = null;
    let usage: JsonValue | undefined;
    const errors: JsonValue[] = [];
    const flush = () => {
      // The place counts within the run of items, so that a text is found again by its line.
      messages.push(
        ...responseMessages(items, `/events/${from}`).map((one) => ({ ...one, context: contexts.length - 1 })),
      );
      items = [];
    };
    for (const [at, line] of objectsOf(record.events).entries()) {
      const payload = isJsonObject(line.payload) ? line.payload : line;
      const type = line.payload === undefined ? 'response_item' : line.type;
      if (line.type === 'thread.started') meta = { id: line.thread_id ?? null };
      else if (line.type === 'turn.completed') usage = line.usage;
      else if (line.type === 'item.completed') {
        if (items.length === 0) from = at;
        items.push(...(isJsonObject(line.item) ? executed(line.item) : []));
      } else if (type === 'response_item') {
        if (items.length === 0) from = at;
        if (typeof payload.type === 'string' || payload.role !== undefined) items.push(payload);
        else if (payload.instructions !== undefined) meta = payload;
      } else if (type === 'session_meta') {
        if (Object.keys(meta).length === 0) meta = payload;
      } else if (type === 'turn_context') {
        model = idOf(payload.model) ?? model;
      } else if (type === 'compacted') {
        flush();
        contexts.push({
          kind: 'compaction',
          name: idOf(payload.window_id),
          after: messages.length === 0 ? null : messages.length - 1,
        });
        const text = contentText(payload.message);
        if (text !== '')
          messages.push({
            role: 'user',
            trained: false,
            context: contexts.length - 1,
            texts: [{ pointer: `/events/${at}/payload/message`, text }],
          });
      } else if (type === 'event_msg') {
        if (payload.type === 'token_count' && isJsonObject(payload.info)) usage = payload.info.total_token_usage;
        if (payload.type === 'error') errors.push(payload.error ?? payload.message ?? payload);
      }
    }
    flush();
    const base = isJsonObject(meta.base_instructions) ? meta.base_instructions.text : meta.base_instructions;
    const instructions = contentText(base ?? meta.instructions);
    if (instructions !== '') {
      messages.unshift({
        role: 'system',
        trained: false,
        texts: [{ pointer: '/events/0/payload/instructions', text: instructions }],
      });
      for (const one of contexts) if (one.after !== null) one.after++;
    }
    const { instructions: _one, base_instructions: _two, ...shown } = meta;
    return buildRollout(
      {
        format: 'codex',
        record,
        known: new Set(['session_of', 'events']),
        messages,
        hasCallsApart: true,
        contexts,
        uid: idOf(meta.id),
        extras: {
          ...(Object.keys(shown).length > 0 ? { session: shown } : {}),
          ...(model === null ? {} : { model }),
          ...(usage === undefined ? {} : { usage }),
          ...(errors.length > 0 ? { errors } : {}),
        },
      },
      context,
    );
  },
};

/** An item that `codex exec` told of, as the model's own: what it did and what came of it are one there. */
function executed(item: JsonObject): JsonObject[] {
  const { id = null, text = '' } = item;
  const call = (name: string, args: JsonValue, output: JsonValue): JsonObject[] => [
    { type: 'function_call', call_id: id, name, arguments: args },
    { type: 'function_call_output', call_id: id, output },
  ];
  switch (item.type) {
    case 'agent_message':
      return [{ type: 'message', role: 'assistant', content: text }];
    case 'reasoning':
      return [{ type: 'reasoning', summary: [{ text }] }];
    case 'command_execution':
      return call('shell', { command: item.command ?? null }, item.aggregated_output ?? '');
    case 'file_change':
      return call('apply_patch', { changes: item.changes ?? null }, item.status ?? '');
    case 'mcp_tool_call':
      return call(idOf(item.tool) ?? 'tool', item.arguments ?? null, item.result ?? item.error ?? item.status ?? '');
    case 'web_search':
      return call('web_search', { query: item.query ?? null }, '').slice(0, 1);
    default:
      return [];
  }
}

/** pi's session (`packages/coding-agent`): a line a message, and changes of model beside them. */
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

export const piFormat: Format = {
  name: 'pi',
  isStepless: true,
  quickKeys: null,
  basis: 'files',
  mapping: {
    turns: 'lines of the type message',
    calls: 'parts of the type toolCall',
    contexts: 'lines of the type compaction; forks of parentId',
  },
  detects: (record) => record.session_of === pi.name,
  times: sessionTimes,
  read(record, context) {
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
        shown.texts = [{ pointer: `/events/${at}/message/errorMessage`, text: `[${message.errorMessage as string}]` }];
      messages.push({ ...shown, context, ...(failed ? { trained: false } : {}) });
    }
    const { type: _type, ...shown } = session;
    return buildRollout(
      {
        format: 'pi',
        record,
        known: new Set(['session_of', 'events']),
        messages,
        hasCallsApart: true,
        contexts,
        uid: idOf(session.id),
        extras: { ...shown, ...(reason === null ? {} : { stop_reason: reason }) },
      },
      context,
    );
  },
};

/** The lines that the last one does not come from, each with the line that its branch begins with. Parents may be missing or lead in a circle. */
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

const GEMINI = new Set(['user', 'gemini', 'info', 'error', 'warning', 'model']);

/** Gemini CLI's chats as lines: a line with the id of an earlier one is a later version of it. */
export const gemini: Session = {
  name: 'gemini-cli',
  isEvent: (record) =>
    (record.sessionId !== undefined && record.projectHash !== undefined && !Array.isArray(record.messages)) ||
    (typeof record.type === 'string' &&
      GEMINI.has(record.type) &&
      record.id !== undefined &&
      record.message === undefined &&
      record.uuid === undefined),
  keyOf: () => null,
};

export const geminiFormat: Format = {
  name: 'gemini-cli',
  isStepless: true,
  quickKeys: null,
  basis: 'files',
  mapping: {
    turns: 'messages[], or the lines, of the types user and gemini',
    calls: 'toolCalls[], with their results',
    reasoning: 'thoughts[]',
  },
  detects: (record) =>
    record.session_of === gemini.name ||
    (Array.isArray(record.messages) &&
      record.sessionId !== undefined &&
      (record.projectHash !== undefined || record.startTime !== undefined)),
  times: sessionTimes,
  read(record, context) {
    const field = record.session_of === gemini.name ? 'events' : 'messages';
    const newest = new Map<string, { one: JsonObject; at: number }>();
    for (const [at, one] of objectsOf(record[field]).entries()) newest.set(idOf(one.id) ?? `at ${at}`, { one, at });
    const messages = [...newest.values()].flatMap(({ one, at }) => geminiMessages(one, `/${field}/${at}`));
    const head = objectsOf(record.events).find((one) => one.sessionId !== undefined) ?? record;
    return buildRollout(
      {
        format: 'gemini-cli',
        record,
        known: new Set(['session_of', 'events', 'messages']),
        messages,
        hasCallsApart: true,
        uid: idOf(head.sessionId),
      },
      context,
    );
  },
};

function geminiMessages(one: JsonObject, place: string): FoundMessage[] {
  const type = idOf(one.type) ?? idOf(one.role) ?? '';
  if (type === 'user')
    return [{ role: 'user', trained: false, texts: [{ pointer: `${place}/content`, text: geminiText(one) }] }];
  if (type !== 'gemini' && type !== 'model') return [];
  const thoughts = objectsOf(one.thoughts).map((thought, i) => ({
    pointer: `${place}/thoughts/${i}/description`,
    text: [idOf(thought.subject), contentText(thought.description)]
      .filter((word) => word !== null && word !== '')
      .join(': '),
    isThought: true,
  }));
  const made = objectsOf(one.toolCalls);
  const calls = made.map(({ id, name, args }) => ({ id: idOf(id), name: idOf(name), arguments: args }));
  const results = made.flatMap((call, i): FoundMessage[] => {
    // The model saw the response; what was displayed may be cut or drawn anew.
    const text = resultText(call.result ?? undefined) || contentText(call.resultDisplay);
    if (call.result === undefined && call.resultDisplay === undefined) return [];
    return [
      {
        role: 'tool',
        trained: false,
        answers: idOf(call.id),
        texts: [{ pointer: `${place}/toolCalls/${i}/result`, text }],
      },
    ];
  });
  const reply: FoundMessage = {
    role: 'assistant',
    texts: [...thoughts, { pointer: `${place}/content`, text: geminiText(one) }],
    ...(calls.length > 0 ? { calls } : {}),
  };
  return [reply, ...results];
}

const geminiText = (one: JsonObject): string => contentText(one.content ?? one.parts ?? one.text);

/** Results are parts of Gemini's API: `[{functionResponse: {response: {output}}}]`. */
function resultText(value: JsonValue | undefined): string {
  const parts = objectsOf(Array.isArray(value) ? value : value === undefined ? [] : [value]);
  const texts = parts.map(({ functionResponse: answer, ...part }) =>
    isJsonObject(answer) ? responseText(answer.response) : contentText(part),
  );
  return texts.join('\n');
}
