import { printJson } from '../json/print.ts';
import { isJsonObject, type JsonObject, objectIn } from '../json/value.ts';
import type { SharedId } from './format.ts';
import { callOfSpan, lengthLimit, runOfSpan } from './otel-calls.ts';
import { flatSpan, isSpanRecord, serviceOf, spanEvents, traceOf } from './otel-spans.ts';
import { attribute, firstAttribute, parsedWord, type SpanEvent, type SpanTree, type TraceSpan } from './spans.ts';
import { type Tracer, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, numberOf, objectsOf } from './values.ts';

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
    const info = objectIn(objectIn(mlflow).info);
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
