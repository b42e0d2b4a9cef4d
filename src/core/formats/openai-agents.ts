import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { messageFormat } from './build.ts';
import { type Format, NO_TRAINING, type Session } from './format.ts';
import { callUsage, payloadOf } from './payload.ts';
import { plainSpan, type TracedSpan, type Tracer, toolOutput, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, objectsOf, parsed } from './values.ts';

/**
 * Traces and spans that the OpenAI Agents SDK exports. With the Responses API a span holds the id of the response alone: the
 * turn is there, its content is not.
 */
const agentsTracer: Tracer = {
  name: 'openai-agents',
  basis: 'files',
  mapping: {
    turns: 'span_data of the types generation (input, output) and response; of the latter only the id is recorded',
    'results of tools': 'the history, else span_data of the type function',
    uid: 'trace_id',
    times: 'started_at, ended_at',
  },
  isEvent: (record) =>
    record.object === 'trace.span' || (record.object === 'trace' && record.workflow_name !== undefined),
  keyOf: (event) => idOf(event.object === 'trace' ? (event.id ?? null) : (event.trace_id ?? null)),
  eventIdOf: ({ id }) => idOf(id ?? null),
  conversationOf({ group_id: group }) {
    const id = idOf(group ?? null);
    return id === null ? null : { id, isCertain: false };
  },
  spansOf: (events) =>
    events.flatMap((event, at) => (event.object === 'trace' ? [] : [tracedSpan(event, `/events/${at}`)])),
  aboutOf(events) {
    const trace = events.find((event) => event.object === 'trace') ?? {};
    return {
      extras: {
        ...(typeof trace.workflow_name === 'string' ? { workflow: trace.workflow_name } : {}),
        ...(typeof trace.group_id === 'string' ? { conversation: trace.group_id } : {}),
        ...(isJsonObject(trace.metadata) ? { metadata: trace.metadata } : {}),
        ...errorsOf(events),
      },
    };
  },
};

export const agentsTraces = tracerSession(agentsTracer);
export const agentsTracesFormat = tracerFormat(agentsTracer);

function tracedSpan(event: JsonObject, at: string): TracedSpan {
  const data = objectIn(event.span_data);
  const error = isJsonObject(event.error) ? (idOf(event.error.message ?? null) ?? 'it failed') : null;
  const span = plainSpan(at, {
    trace: event.trace_id,
    id: event.id,
    parent: event.parent_id,
    name: data.name ?? data.type,
    start: event.started_at,
    end: event.ended_at,
    error: error === null ? null : `${error}${detailOf(event.error)}`,
  });
  if (data.type === 'function')
    return {
      span,
      kind: 'tool',
      run: () => ({
        name: idOf(data.name ?? null),
        input: data.input,
        result: toolOutput(data.output, `${at}/span_data/output`),
      }),
    };
  if (data.type !== 'generation' && data.type !== 'response') return { span, kind: 'other' };
  return {
    span,
    kind: 'model',
    call: () => {
      const usage = callUsage(data.usage);
      const input = payloadOf(data.input, `${at}/span_data/input`, 'user');
      const output = payloadOf(data.output ?? data.response, `${at}/span_data/output`, 'assistant');
      const id = idOf(data.response_id ?? null);
      return {
        input: { ...input, settings: agentSettings(data.model_config) },
        output: {
          ...output,
          ...(usage === null ? {} : { usage }),
          ...(typeof data.model === 'string' ? { model: data.model } : {}),
        },
        ...(data.type === 'response' && id !== null
          ? { unknownReply: { id, pointer: `${at}/span_data/response_id` } }
          : {}),
      };
    },
  };
}

const detailOf = (error: JsonValue | undefined): string => {
  const data = objectIn(objectIn(error).data);
  return typeof data.error === 'string' ? `: ${data.error}` : '';
};

const agentSettings = (config: JsonValue | undefined): JsonObject =>
  isJsonObject(config)
    ? Object.fromEntries(
        Object.entries(config).filter(
          ([key, value]) =>
            value !== null &&
            /^(?:temperature|top_p|max_tokens|tool_choice|parallel_tool_calls|reasoning|verbosity)$/.test(key),
        ),
      )
    : {};

/** The ids of responses whose content is elsewhere: in the session's database, or at the provider. */
function errorsOf(events: readonly JsonObject[]): JsonObject {
  const ids = events.flatMap(({ span_data: data }) =>
    isJsonObject(data) && data.type === 'response' && data.output === undefined && typeof data.response_id === 'string'
      ? [data.response_id]
      : [],
  );
  return ids.length === 0 ? {} : { responses_without_content: ids };
}

/** Rows of the SDK's SQLite session: an item of the Responses API each. */
export const agentsSession: Session = {
  name: 'openai-agents-session',
  isEvent: (record) => record.message_data !== undefined && record.session_id !== undefined,
  keyOf: (event) => idOf(event.session_id ?? null),
};

/** A run that failed before its first message, among others with their `input_list`. */
const isFailedRun = (record: JsonObject): boolean =>
  typeof record.error === 'string' && Object.keys(record).sort().join() === 'error,name';

/** A session of the OpenAI Agents SDK: rows of its database, or what `to_input_list()` gives. */
export const agentsSessionFormat: Format = messageFormat({
  name: 'openai-agents-session',
  ...NO_TRAINING,
  basis: 'files',
  mapping: { turns: 'message_data of agent_messages, or input_list', uid: 'session_id, or name' },
  detects: (record) =>
    record.session_of === agentsSession.name || Array.isArray(record.input_list) || isFailedRun(record),
  find(record) {
    const rows = objectsOf(record.events);
    const items = Array.isArray(record.input_list)
      ? record.input_list
      : rows.map(({ message_data: held }) => (typeof held === 'string' ? (parsed(held) ?? held) : (held ?? null)));
    const at = Array.isArray(record.input_list) ? '/input_list' : '/events';
    return {
      known: new Set(['session_of', 'events', 'input_list', 'name', 'error']),
      messages: payloadOf(items, at, 'user').messages,
      hasCallsApart: true,
      uid: idOf(rows[0]?.session_id ?? record.name ?? record.id ?? null),
      status: record.error === undefined || record.error === null ? null : 'error',
      extras: record.error === undefined || record.error === null ? {} : { errors: [record.error] },
    };
  },
});
