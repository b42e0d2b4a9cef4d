import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { anyMessages, resultText } from './any-message.ts';
import type { SharedId } from './format.ts';
import type { TracedCall, TracedRun } from './model-calls.ts';
import { flatSpan, isSpanRecord, serviceOf, spanEvents, traceOf } from './otel-spans.ts';
import { type CallUsage, callUsage, type Payload, payloadOf } from './payload.ts';
import { attribute, firstAttribute, type SpanEvent, type SpanTree, type TraceSpan } from './spans.ts';
import { type Tracer, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, namedNumbers, numberOf, objectsOf, parsed } from './values.ts';

const otelTracer: Tracer = {
  name: 'otel',
  basis: 'files',
  mapping: {
    turns:
      'spans of models: their inputs and outputs (GenAI, OpenInference, OpenLLMetry, Langfuse, MLflow, AI SDK, Logfire), each message once',
    'results of tools': 'the history, else the spans of tools',
    contexts: 'histories that begin elsewhere, named by the agent above',
    uid: 'the trace, or the conversation that its spans name',
    'named rewards': 'assessments of MLflow, evaluations of the GenAI conventions',
    times: 'start and end of each span',
  },
  isEvent: isSpanRecord,
  keyOf: traceOf,
  eventsOf: spanEvents,
  conversationOf: (event) => conversationIn(flatSpan(event, '').attributes),
  spansOf(events) {
    const spans = eventSpans(events);
    const limit = lengthLimit(spans);
    return spans.map((span) => {
      const kind = kindOfSpan(span);
      return {
        span,
        kind: kind === 'agent' ? 'other' : kind,
        ...(kind === 'model' ? { call: (tree: SpanTree) => callOfSpan(span, tree, limit) } : {}),
        ...(kind === 'tool' ? { run: () => runOfSpan(span) } : {}),
      };
    });
  },
  aboutOf(events, tree) {
    const conversation = tree.spans
      .map(({ attributes }) => conversationIn(attributes)?.id)
      .find((id) => id !== undefined);
    const traces = new Set(tree.spans.map(({ trace }) => trace));
    const service = events[0] === undefined ? null : serviceOf(events[0]);
    const root = tree.roots.find(({ parent }) => parent === null) ?? tree.roots[0];
    return {
      ...(traces.size > 1 && conversation !== undefined ? { uid: conversation } : {}),
      named: namedOf(events, tree.spans),
      extras: {
        ...(service === null ? {} : { service }),
        ...(conversation === undefined ? {} : { conversation }),
        ...rootExtras(root),
      },
    };
  },
};

/** Spans and log records of OpenTelemetry, in any export of them. */
export const otel = tracerSession(otelTracer);
export const otelFormat = tracerFormat(otelTracer);

/** These ids name one conversation. */
const CERTAIN = ['gen_ai.conversation.id'];
/** These may hold several independent tasks. */
const CONVERSATION = [
  'session.id',
  'langfuse.session.id',
  'langfuse.trace.session_id',
  'mlflow.trace.session',
  'traceloop.association.properties.session_id',
  'langsmith.trace.session_id',
  'ai.telemetry.metadata.sessionId',
];

function conversationIn(attributes: JsonObject): SharedId | null {
  const certain = idOf(firstAttribute(attributes, ...CERTAIN) ?? null);
  const id = certain ?? idOf(firstAttribute(attributes, ...CONVERSATION) ?? null);
  return id === null ? null : { id, isCertain: certain !== null };
}

type Kind = 'model' | 'tool' | 'agent' | 'other';

/** The kind of a span, by the attributes of each convention. */
function kindOfSpan({ attributes, name, events }: TraceSpan): Kind {
  const said = firstAttribute(
    attributes,
    'gen_ai.operation.name',
    'openinference.span.kind',
    'langfuse.observation.type',
    'mlflow.spanType',
    'traceloop.span.kind',
    'ai.operationId',
    'langsmith.span.kind',
    'weave.kind',
  );
  const word = (typeof said === 'string' ? (parsedWord(said) ?? said) : '').toLowerCase();
  if (
    /^(?:chat|text_completion|generate_content|completion|llm|chat_model|generation|responses?|inference)$/.test(
      word,
    ) ||
    /\.(?:dostream|dogenerate)$/.test(word)
  )
    return 'model';
  if (/^(?:execute_tool|tool|ai\.toolcall)$/.test(word)) return 'tool';
  if (
    /^(?:invoke_agent|create_agent|agent|workflow|chain|invoke_workflow)$/.test(word) ||
    /^ai\.(?:generate|stream)\w+$/.test(word)
  )
    return 'agent';
  if (attributes['gcp.vertex.agent.llm_request'] !== undefined && attributes['gcp.vertex.agent.llm_request'] !== '{}')
    return 'model';
  if (attributes['gcp.vertex.agent.tool_call_args'] !== undefined) return 'tool';
  if (
    attribute(attributes, 'llm.request.type') === 'chat' ||
    attribute(attributes, 'gen_ai.request.model') !== undefined
  )
    return 'model';
  if (attributes.request_data !== undefined && attributes.response_data !== undefined) return 'model';
  if (events.some((event) => /^gen_ai\.(?:choice|user\.message|client\.inference)/.test(event.name))) return 'model';
  if (word === '' && /^(?:running tool|execute_tool)\b/.test(name)) return 'tool';
  return 'other';
}

/** MLflow writes the word as JSON. */
const parsedWord = (text: string): string | null => {
  const value = text.startsWith('"') ? parsed(text) : undefined;
  return typeof value === 'string' ? value : null;
};

const INPUTS = [
  'gen_ai.input.messages',
  'llm.input_messages',
  'langfuse.observation.input',
  'ai.prompt.messages',
  'gen_ai.prompt',
  'mlflow.chat.messages',
  'mlflow.spanInputs',
  'gcp.vertex.agent.llm_request',
  'request_data',
  'input.value',
  'traceloop.entity.input',
  'ai.prompt',
  'gen_ai.input',
];
const OUTPUTS = [
  'gen_ai.output.messages',
  'llm.output_messages',
  'langfuse.observation.output',
  'gen_ai.completion',
  'mlflow.spanOutputs',
  'gcp.vertex.agent.llm_response',
  'response_data',
  'output.value',
  'traceloop.entity.output',
  'gen_ai.output',
];
const TOOLS = ['gen_ai.tool.definitions', 'llm.tools', 'llm.request.functions', 'mlflow.chat.tools', 'ai.prompt.tools'];

/**
 * The length at which a tracer cut its values; null if it did not. Several end there, none is longer, and what begins as JSON there has no
 * end.
 */
function lengthLimit(spans: readonly TraceSpan[]): number | null {
  const texts = spans.flatMap(({ attributes }) => Object.values(attributes).filter((one) => typeof one === 'string'));
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  const there = [...new Set(texts.filter(({ length }) => length === longest))];
  return there.length > 1 && there.some((one) => /^\s*[[{]/.test(one) && parsed(one) === undefined) ? longest : null;
}

/** Whether an attribute of these names ends at the limit of its tracer. */
const endsAt = ({ attributes }: TraceSpan, names: readonly string[], limit: number | null): boolean =>
  limit !== null &&
  Object.entries(attributes).some(
    ([key, value]) =>
      typeof value === 'string' &&
      value.length === limit &&
      names.some((name) => key === name || key.startsWith(`${name}.`)),
  );

function callOfSpan(span: TraceSpan, tree: SpanTree, limit: number | null): TracedCall {
  const { attributes } = span;
  const input = sideOf(span, INPUTS, 'user');
  const output = sideOf(span, OUTPUTS, 'assistant');
  const system = firstAttribute(attributes, 'gen_ai.system_instructions', 'langfuse.observation.system');
  if (system !== undefined && !input.messages.some(({ role }) => role === 'system')) {
    const said = payloadOf(system, `${span.at}#gen_ai.system_instructions`, 'user').messages.map((one) => ({
      ...one,
      role: 'system',
    }));
    input.messages.unshift(...said);
  }
  const tools = toolsOf(firstAttribute(attributes, ...TOOLS)) ?? input.tools;
  const model = idOf(
    firstAttribute(
      attributes,
      'gen_ai.response.model',
      'gen_ai.request.model',
      'llm.model_name',
      'langfuse.observation.model.name',
      'ai.model.id',
      'mlflow.llm.model',
    ) ?? null,
  );
  const finish = finishOf(attributes) ?? output.finish;
  const usage = usageOfSpan(attributes) ?? output.usage;
  const agent = [span, ...tree.above(span)].map((one) => agentName(one)).find((name) => name !== null);
  return {
    input: {
      ...input,
      ...(endsAt(span, INPUTS, limit) ? { isCut: true } : {}),
      ...(tools === undefined ? {} : { tools }),
      settings: { ...input.settings, ...settingsOfSpan(attributes) },
    },
    output: {
      ...output,
      ...(endsAt(span, OUTPUTS, limit) ? { isCut: true } : {}),
      ...(finish === undefined ? {} : { finish }),
      ...(usage === undefined ? {} : { usage }),
      ...(model === null ? {} : { model }),
    },
    start: span.start,
    end: span.end,
    error: span.error,
    agent: agent ?? null,
  };
}

const agentName = ({ attributes }: TraceSpan): string | null =>
  idOf(firstAttribute(attributes, 'gen_ai.agent.name', 'agent.name', 'graph.node.id') ?? null);

/** Input or output of a model's span: by its attributes, or by its events and log records. */
function sideOf(span: TraceSpan, names: readonly string[], role: 'user' | 'assistant'): Payload {
  const { attributes, at } = span;
  for (const name of names) {
    const value = attribute(attributes, name);
    if (value === undefined || value === null || value === '') continue;
    const found = payloadOf(value, `${at}#${name}`, role);
    if (found.messages.length > 0) return found;
  }
  if (role === 'assistant') {
    const streamed = aiSdkReply(attributes, at);
    if (streamed.messages.length > 0) return streamed;
  }
  return eventSide(span, role);
}

/** The AI SDK writes each part of a reply as an attribute. */
function aiSdkReply(attributes: JsonObject, at: string): Payload {
  const [text, thought, calls] = ['ai.response.text', 'ai.response.reasoning', 'ai.response.toolCalls'].map((name) =>
    attribute(attributes, name),
  );
  const list = typeof calls === 'string' ? parsed(calls) : calls;
  if (typeof text !== 'string' && list === undefined) return { messages: [] };
  const content: JsonValue[] = [
    ...(typeof thought === 'string' ? [{ type: 'reasoning', text: thought }] : []),
    ...(typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []),
    ...objectsOf(list).map((one) => ({ ...one, type: 'tool-call' })),
  ];
  return { messages: anyMessages({ role: 'assistant', content }, `${at}#ai.response`) };
}

/** The messages among events: `gen_ai.user.message` and others, a choice, or the details of the operation. */
function eventSide(span: TraceSpan, role: 'user' | 'assistant'): Payload {
  const found: Payload = { messages: [] };
  const listed = typeof span.attributes.events === 'string' ? parsed(span.attributes.events) : span.attributes.events;
  const own = objectsOf(listed).map(
    (one): SpanEvent => ({ name: idOf(one['event.name'] ?? null) ?? '', attributes: {}, body: one, time: null }),
  );
  for (const [i, { name, attributes, body }] of [...span.events, ...own].entries()) {
    const at = `${span.at}/events/${i}`;
    if (/inference\.operation\.details$|^gen_ai\.content\.(?:prompt|completion)$/.test(name)) {
      const details = sideOf(
        { ...span, attributes: isJsonObject(body) ? { ...attributes, ...body } : attributes, events: [], at },
        role === 'user' ? INPUTS : OUTPUTS,
        role,
      );
      if (details.messages.length > 0) Object.assign(found, details);
      continue;
    }
    const isChoice = name === 'gen_ai.choice' || name === 'gen_ai.assistant.choice';
    const said = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)?.[1];
    if ((role === 'assistant') !== isChoice || (!isChoice && said === undefined)) continue;
    const held = messageOfEvent(body, attributes);
    if (isChoice && (numberOf(held.index) ?? 0) > 0) continue;
    const inner = isJsonObject(held.message) ? held.message : held;
    const messages = anyMessages({ ...inner, role: isChoice ? 'assistant' : (inner.role ?? said ?? 'user') }, at);
    found.messages.push(...messages);
    const finish = idOf(held.finish_reason ?? null);
    if (isChoice && finish !== null) found.finish = finish;
  }
  return found;
}

/** The body, else the attributes; their values may be JSON texts. */
function messageOfEvent(body: JsonValue | undefined, attributes: JsonObject): JsonObject {
  const held = isJsonObject(body) ? body : attributes;
  return Object.fromEntries(
    Object.entries(held).map(([key, value]) => {
      const inner =
        typeof value === 'string' && /^(?:message|content|tool_calls)$/.test(key) && /^\s*[[{]/.test(value)
          ? parsed(value)
          : undefined;
      const isShape = isJsonObject(inner) || (Array.isArray(inner) && inner.every(isJsonObject));
      return [key, isShape ? inner : value];
    }),
  );
}

function toolsOf(value: JsonValue | undefined): JsonValue | undefined {
  const list = typeof value === 'string' ? parsed(value) : value;
  if (!Array.isArray(list)) return undefined;
  return list.map((one) => {
    const held = typeof one === 'string' ? (parsed(one) ?? one) : one;
    const schema = isJsonObject(held) ? (attribute(held, 'tool.json_schema') ?? held) : held;
    return typeof schema === 'string' ? (parsed(schema) ?? schema) : schema;
  });
}

function finishOf(attributes: JsonObject): string | undefined {
  const value = firstAttribute(
    attributes,
    'gen_ai.response.finish_reasons',
    'llm.finish_reason',
    'ai.response.finishReason',
    'gen_ai.completion.0.finish_reason',
    'llm.response.finish_reason',
  );
  const list = typeof value === 'string' && value.startsWith('[') ? parsed(value) : value;
  return idOf(Array.isArray(list) ? (list.at(-1) ?? null) : (list ?? null)) ?? undefined;
}

function usageOfSpan(attributes: JsonObject): CallUsage | undefined {
  const number = (...names: string[]): number | null => numberOf(firstAttribute(attributes, ...names));
  const details = callUsage(
    firstAttribute(attributes, 'langfuse.observation.usage_details', 'mlflow.chat.tokenUsage') ?? null,
  );
  const input =
    number(
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.prompt_tokens',
      'llm.token_count.prompt',
      'ai.usage.promptTokens',
      'ai.usage.inputTokens',
      'llm.usage.prompt_tokens',
    ) ??
    details?.input ??
    null;
  const output =
    number(
      'gen_ai.usage.output_tokens',
      'gen_ai.usage.completion_tokens',
      'llm.token_count.completion',
      'ai.usage.completionTokens',
      'ai.usage.outputTokens',
      'llm.usage.completion_tokens',
    ) ??
    details?.output ??
    null;
  const costs = firstAttribute(attributes, 'langfuse.observation.cost_details');
  const cost =
    number('gen_ai.usage.cost', 'operation.cost', 'llm.cost.total', 'gen_ai.usage.total_cost') ??
    numberOf(namedNumbers(typeof costs === 'string' ? parsed(costs) : costs)?.total);
  return input === null && output === null && cost === null ? undefined : { input, output, cost };
}

function settingsOfSpan(attributes: JsonObject): JsonObject {
  const found: JsonObject = {};
  for (const key of ['temperature', 'top_p', 'top_k', 'max_tokens', 'seed', 'stop_sequences']) {
    const value = attribute(attributes, `gen_ai.request.${key}`);
    if (value !== undefined && value !== null) found[key] = value;
  }
  const held = firstAttribute(attributes, 'llm.invocation_parameters', 'langfuse.observation.model.parameters');
  const more = typeof held === 'string' ? parsed(held) : held;
  return isJsonObject(more) ? { ...more, ...found } : found;
}

function runOfSpan({ attributes, name, error, start, end, at, events }: TraceSpan): TracedRun {
  const said = firstAttribute(attributes, 'gen_ai.tool.name', 'tool.name', 'ai.toolCall.name', 'traceloop.entity.name');
  const input = firstAttribute(
    attributes,
    'gen_ai.tool.call.arguments',
    'tool.parameters',
    'ai.toolCall.args',
    'gcp.vertex.agent.tool_call_args',
    'mlflow.spanInputs',
    'langfuse.observation.input',
    'tool_arguments',
    'traceloop.entity.input',
    'input.value',
  );
  const result = firstAttribute(
    attributes,
    'gen_ai.tool.call.result',
    'ai.toolCall.result',
    'gcp.vertex.agent.tool_response',
    'mlflow.spanOutputs',
    'langfuse.observation.output',
    'tool_response',
    'traceloop.entity.output',
    'output.value',
  );
  const eventMessage = events.find((event) => event.name === 'gen_ai.choice')?.attributes.message;
  const held = result ?? eventMessage;
  const inner = typeof held === 'string' && /^\s*["{[]/.test(held) ? parsed(held) : held;
  return {
    id: idOf(firstAttribute(attributes, 'gen_ai.tool.call.id', 'tool.id', 'tool_call.id', 'ai.toolCall.id') ?? null),
    name:
      typeof said === 'string' ? (parsedWord(said) ?? said) : name.replace(/^(?:execute_tool|running tool:?)\s+/, ''),
    input: input ?? events.find((event) => event.name === 'gen_ai.tool.message')?.attributes.content,
    result:
      held === undefined
        ? null
        : {
            pointer: `${at}#result`,
            text: typeof inner === 'string' ? inner : typeof held === 'string' ? held : resultText(held),
          },
    error,
    start,
    end,
  };
}

/** Log records become events of their span, and spans that only logs know exist by them. */
function eventSpans(events: readonly JsonObject[]): TraceSpan[] {
  const spans: TraceSpan[] = [];
  const byId = new Map<string, TraceSpan>();
  for (const [i, event] of events.entries()) {
    const span = flatSpan(event, `/events/${i}`);
    const known = span.id === null ? undefined : byId.get(span.id);
    if (known === undefined) {
      if (span.id !== null) byId.set(span.id, span);
      spans.push(span);
      continue;
    }
    known.events.push(...span.events);
    if (known.name !== '') continue;
    const { name, parent, attributes, end, error } = span;
    if (name !== '') Object.assign(known, { name, parent, attributes, end, error, start: span.start ?? known.start });
    else known.end = span.start ?? known.end;
  }
  for (const span of spans) span.events = inOrderOnce(span.events);
  return spans;
}

/** Log records by their times; one that was sent again, to the nanosecond, is one. Events of a span have no times of their own here. */
function inOrderOnce(events: SpanEvent[]): SpanEvent[] {
  if (events.length < 2 || events.every(({ time }) => time === null)) return events;
  const once = new Map(
    events.map((event, at) => [event.time === null ? at : printJson({ ...event, body: event.body ?? null }), event]),
  );
  return [...once.values()].sort((a, b) => (a.time === null || b.time === null ? 0 : a.time < b.time ? -1 : 1));
}

/** Labels that people give to a trace. */
const ABOUT =
  /^(?:langfuse\.(?:trace|user|tags|environment|release|version)\b.*|user\.id|tag\.tags|metadata|tags|mlflow\.(?:traceName|user)|traceloop\.association\.properties\..+)$/;

const rootExtras = (span: TraceSpan | undefined): JsonObject =>
  Object.fromEntries(Object.entries(span?.attributes ?? {}).filter(([key]) => ABOUT.test(key)));

/** Scores that a tracer holds beside its spans. */
function namedOf(events: readonly JsonObject[], spans: readonly TraceSpan[]): Record<string, number | null> | null {
  const found: Record<string, number | null> = {};
  for (const { mlflow } of events) {
    const info = isJsonObject(mlflow) && isJsonObject(mlflow.info) ? mlflow.info : {};
    for (const { assessment_name: name, name: other, feedback, value } of objectsOf(info.assessments)) {
      const held = isJsonObject(feedback) ? feedback.value : value;
      const score = typeof held === 'boolean' ? Number(held) : numberOf(held);
      const key = idOf(name ?? other ?? null);
      if (key !== null && score !== null) found[key] = score;
    }
  }
  for (const { events: own } of spans)
    for (const { name, attributes } of own) {
      if (name !== 'gen_ai.evaluation.result' && name !== 'gen_ai.evaluation') continue;
      const key = idOf(attribute(attributes, 'gen_ai.evaluation.name') ?? null);
      const score = numberOf(firstAttribute(attributes, 'gen_ai.evaluation.score.value', 'gen_ai.evaluation.score'));
      if (key !== null && score !== null) found[key] = score;
    }
  return Object.keys(found).length === 0 ? null : found;
}
