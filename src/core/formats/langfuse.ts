import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { callUsage, payloadOf } from './payload.ts';
import { plainSpan, type TracedSpan, type Tracer, toolOutput, tracerFormat, tracerSession } from './tracer.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/** Traces and observations as Langfuse's API and its exports give them; its SDK's own spans are OpenTelemetry's. */
const langfuseTracer: Tracer = {
  name: 'langfuse',
  basis: 'documentation',
  mapping: {
    turns: 'input and output of observations of the type GENERATION',
    'results of tools': 'the history, else observations of the type TOOL',
    'named rewards': 'scores',
    uid: 'traceId',
    times: 'startTime, endTime',
  },
  isEvent: (record) =>
    (Array.isArray(record.observations) &&
      record.observations.every((one) => isJsonObject(one)) &&
      (record.timestamp !== undefined || record.scores !== undefined || record.sessionId !== undefined)) ||
    ((record.traceId ?? record.trace_id) !== undefined && typeof record.type === 'string' && TYPES.has(record.type)),
  eventsOf(record) {
    const { observations, ...trace } = record;
    if (!Array.isArray(observations)) return [record];
    return [
      trace,
      ...objectsOf(observations).map((one) =>
        one.traceId === undefined ? { ...one, traceId: trace.id ?? null } : one,
      ),
    ];
  },
  keyOf: (event) => idOf(event.traceId ?? event.trace_id ?? event.id ?? null),
  eventIdOf: ({ id }) => idOf(id ?? null),
  conversationOf(event) {
    const id = idOf(event.sessionId ?? event.session_id ?? null);
    return id === null ? null : { id, isCertain: false };
  },
  spansOf: (events) =>
    events.flatMap((event, at) => (isObservation(event) ? [tracedObservation(event, `/events/${at}`)] : [])),
  aboutOf(events) {
    const trace = events.find((event) => !isObservation(event)) ?? {};
    const named = objectsOf(trace.scores).flatMap(({ name, value }): [string, number][] => {
      const score = typeof value === 'boolean' ? Number(value) : numberOf(value);
      return typeof name === 'string' && score !== null ? [[name, score]] : [];
    });
    const kept = Object.fromEntries(
      ['name', 'userId', 'sessionId', 'tags', 'metadata', 'release', 'version', 'environment'].flatMap((key) =>
        isThere(trace[key]) ? [[key, trace[key]]] : [],
      ),
    );
    return {
      named: named.length === 0 ? null : Object.fromEntries(named),
      extras: { ...kept, ...(numberOf(trace.totalCost) === null ? {} : { cost: numberOf(trace.totalCost) }) },
    };
  },
};

const TYPES = new Set([
  'GENERATION',
  'SPAN',
  'EVENT',
  'TOOL',
  'AGENT',
  'CHAIN',
  'RETRIEVER',
  'EVALUATOR',
  'EMBEDDING',
  'GUARDRAIL',
]);

const isThere = (value: JsonValue | undefined): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0);

const isObservation = (event: JsonObject): boolean => typeof event.type === 'string' && TYPES.has(event.type);

export const langfuse = tracerSession(langfuseTracer);
export const langfuseFormat = tracerFormat(langfuseTracer);

function tracedObservation(one: JsonObject, at: string): TracedSpan {
  const said = idOf(one.statusMessage ?? one.status_message ?? null);
  const span = plainSpan(at, {
    trace: langfuseTracer.keyOf(one),
    id: one.id,
    parent: one.parentObservationId ?? one.parent_observation_id,
    name: one.name,
    start: one.startTime ?? one.start_time,
    end: one.endTime ?? one.end_time,
    error: one.level === 'ERROR' ? (said ?? 'it failed') : null,
  });
  if (one.type === 'TOOL') {
    const { output } = one;
    const held = typeof output === 'string' ? (parsed(output) ?? output) : output;
    return { span, kind: 'tool', run: () => ({ input: one.input, result: toolOutput(held, `${at}/output`) }) };
  }
  if (one.type !== 'GENERATION') return { span, kind: 'other' };
  return {
    span,
    kind: 'model',
    call: () => {
      const input = payloadOf(one.input, `${at}/input`, 'user');
      const output = payloadOf(one.output, `${at}/output`, 'assistant');
      const usage = callUsage(one.usageDetails ?? one.usage_details) ?? callUsage(one.usage) ?? output.usage;
      const cost = numberOf(
        one.calculatedTotalCost ?? one.totalCost ?? (isJsonObject(one.costDetails) ? one.costDetails.total : null),
      );
      const model = idOf(one.model ?? one.providedModelName ?? null);
      return {
        input: { ...input, settings: objectIn(one.modelParameters) },
        output: {
          ...output,
          ...(usage || cost !== null
            ? {
                usage: {
                  input: usage?.input ?? null,
                  output: usage?.output ?? null,
                  cost: cost ?? usage?.cost ?? null,
                },
              }
            : {}),
          ...(model === null ? {} : { model }),
        },
      };
    },
  };
}
