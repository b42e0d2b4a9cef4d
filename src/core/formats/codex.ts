import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { outcomeIn, type RecordedOutcome } from '../rollout/outcome.ts';
import type { Context } from '../rollout/rollout.ts';
import { type FoundMessage, messageFormat } from './build.ts';
import { contentText } from './content-text.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { lostMessage } from './lost-line.ts';
import { sessionTimes } from './recorded-times.ts';
import { responseMessages } from './responses.ts';
import { idOf, objectsOf } from './values.ts';

const CODEX = new Set('session_meta turn_context response_item event_msg compacted world_state'.split(' '));
const ITEMS = /^(?:message|reasoning|.+_call|.+_call_output|.+_output)$/;

/** Codex' `rollout-*.jsonl`: lines with a type and a payload; before 2025-09 the bare items. */
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
  // A fork or a resumed session repeats the head of the previous one; the file is one rollout.
  keyOf: () => null,
};

export const codexFormat: Format = messageFormat({
  name: 'codex',
  ...NO_TRAINING,
  basis: 'files',
  mapping: {
    turns: 'response_item; event_msg repeats them and is left out; of `codex exec --json` item.completed',
    calls: 'items of a type that ends in _call',
    contexts: 'compacted',
    system: 'session_meta.instructions',
  },
  detects: (record) => record.session_of === codex.name,
  times: sessionTimes,
  find(record) {
    const messages: FoundMessage[] = [];
    const contexts: Context[] = [{ kind: 'main', name: null, after: null }];
    let items: JsonObject[] = [];
    let from = 0;
    let meta: JsonObject = {};
    let model: string | null = null;
    let usage: JsonValue | undefined;
    const errors: JsonValue[] = [];
    const outcomes = new Map<string, RecordedOutcome>();
    let status: string | null = null;
    const flush = () => {
      // The index counts within the run of items, so that a text can be found by its line.
      messages.push(
        ...responseMessages(items, `/events/${from}`).map((one) => ({ ...one, context: contexts.length - 1 })),
      );
      items = [];
    };
    for (const [at, line] of objectsOf(record.events).entries()) {
      const lost = lostMessage(line, `/events/${at}`);
      if (lost !== null) {
        flush();
        messages.push({ ...lost, context: contexts.length - 1 });
        continue;
      }
      const payload = isJsonObject(line.payload) ? line.payload : line;
      const type = line.payload === undefined ? 'response_item' : line.type;
      if (line.type === 'thread.started') meta = { id: line.thread_id ?? null };
      else if (line.type === 'turn.completed') usage = line.usage;
      else if (line.type === 'turn.failed') status = 'failed';
      else if (line.type === 'item.completed') {
        if (items.length === 0) from = at;
        items.push(...(isJsonObject(line.item) ? executed(line.item) : []));
      } else if (type === 'response_item') {
        if (items.length === 0) from = at;
        // It went on after an error.
        if (status === 'error') status = null;
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
        const error = payload.type === 'error' ? (payload.error ?? payload.message ?? payload) : payload.error;
        if (/^(?:error|task_complete|turn_complete)$/.test(String(payload.type)) && isNoted(error)) {
          errors.push(error);
          status = 'error';
        }
        if (payload.type === 'turn_aborted') status = 'aborted';
        if (payload.type === 'task_started' || payload.type === 'turn_started') status = null;
        const id = idOf(payload.call_id);
        const outcome = id === null ? undefined : endedOutcome(payload);
        if (id !== null && outcome !== undefined) outcomes.set(id, outcome);
      }
    }
    flush();
    for (const one of messages) {
      const outcome = one.answers ? outcomes.get(one.answers) : undefined;
      if (outcome !== undefined && one.outcome === undefined) one.outcome = outcome;
    }
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
    return {
      known: new Set(['session_of', 'events']),
      messages,
      hasCallsApart: true,
      contexts,
      uid: idOf(meta.id),
      status,
      extras: {
        ...(Object.keys(shown).length > 0 ? { session: shown } : {}),
        ...(model === null ? {} : { model }),
        ...(usage === undefined ? {} : { usage }),
        ...(errors.length > 0 ? { errors } : {}),
      },
    };
  },
});

const isNoted = (error: JsonValue | undefined): error is JsonValue =>
  error !== undefined && error !== null && error !== '';

/** The outcome of its call, from an event of the kind `…_end`. */
function endedOutcome(payload: JsonObject): RecordedOutcome | undefined {
  if (typeof payload.type !== 'string' || !/_(?:end|response)$/.test(payload.type)) return undefined;
  const result = objectIn(payload.result);
  const { Ok: ok, Err: error } = result;
  return outcomeIn({ ...payload, status: null, result: null }, ok, { error: error ?? null });
}

/** An item reported by `codex exec`, attributed to the model: there, an action and its result are one item. */
function executed(item: JsonObject): JsonObject[] {
  const { id = null, text = '' } = item;
  const call = (name: string, args: JsonValue, output: JsonValue): JsonObject[] => [
    { type: 'function_call', call_id: id, name, arguments: args },
    {
      type: 'function_call_output',
      call_id: id,
      output,
      exit_code: item.exit_code ?? null,
      error: item.error ?? null,
      ...(item.status === 'failed' || item.status === 'declined' ? { success: false } : {}),
    },
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
