import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import {
  attribute,
  hexId,
  otlpValue,
  plainAttributes,
  type SpanEvent,
  type TraceSpan,
  traceSeconds,
  undotted,
} from './spans.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/**
 * Spans and log records of OpenTelemetry as programs export them: requests of OTLP by the names of its JSON or of protobuf, Tempo's
 * answers, Jaeger's and Zipkin's, what Python's exporters print, rows and pages of Phoenix, traces of MLflow.
 */
export const isSpanRecord = (record: JsonObject): boolean =>
  isRequest(record) ||
  isSpan(record) ||
  isLogRecord(record) ||
  isMlflow(record) ||
  isPage(record) ||
  jaegerTraces(record).length > 0 ||
  isZipkin(record);

/** Each span and each log record of a record as a separate event, in the writer's form. */
export function spanEvents(record: JsonObject): JsonObject[] {
  if (isMlflow(record)) {
    const { data, spans, ...rest } = record;
    return objectsOf(isJsonObject(data) ? data.spans : spans).map((span) => ({ ...span, mlflow: rest }));
  }
  if (isPage(record)) return objectsOf(record.data);
  const jaeger = jaegerTraces(record);
  if (jaeger.length > 0)
    return jaeger.flatMap((trace) => objectsOf(trace.spans).map((span) => ({ ...trace, spans: [span] })));
  return isRequest(record) ? requestEvents(record) : [record];
}

/** Tempo puts a request under `trace`. */
const requestIn = (record: JsonObject): JsonObject => (isJsonObject(record.trace) ? record.trace : record);

const isRequest = (record: JsonObject): boolean =>
  LEVELS.some(({ outer }) => {
    const held = listUnder(requestIn(record), outer);
    return held !== null && (held.key !== 'batches' || held.list.some((one) => listUnder(one, SCOPES) !== null));
  });

/** Jaeger's answer, or one of its traces. */
const jaegerTraces = (record: JsonObject): JsonObject[] =>
  (typeof record.traceID === 'string' ? [record] : objectsOf(record.data)).filter(
    ({ traceID, spans }) => typeof traceID === 'string' && objectsOf(spans).some(isJaeger),
  );
const isJaeger = ({ traceID, spanID, operationName }: JsonObject): boolean =>
  typeof traceID === 'string' && typeof spanID === 'string' && operationName !== undefined;

const isZipkin = ({ traceId, id, spanId, tags, timestamp, localEndpoint }: JsonObject): boolean =>
  spanId === undefined &&
  [traceId, id].every((one) => typeof one === 'string' && /^[0-9a-f]{16,32}$/i.test(one)) &&
  (isJsonObject(tags) || isJsonObject(localEndpoint)) &&
  (timestamp !== undefined || isJsonObject(localEndpoint));

/** A span alone: OTLP's, a console exporter's, or a row of Phoenix. */
function isSpan(record: JsonObject): boolean {
  const { context, name } = record;
  if (record['context.trace_id'] !== undefined && record['context.span_id'] !== undefined) return true;
  if (
    isJsonObject(context) &&
    context.trace_id !== undefined &&
    context.span_id !== undefined &&
    typeof name === 'string'
  )
    return true;
  const hasIds =
    (record.traceId !== undefined && record.spanId !== undefined) ||
    (record.trace_id !== undefined && record.span_id !== undefined);
  return (
    hasIds &&
    typeof name === 'string' &&
    (record.attributes !== undefined ||
      record.startTimeUnixNano !== undefined ||
      record.start_time_unix_nano !== undefined)
  );
}

/** A page of spans, as Phoenix's server answers. */
const isPage = ({ data, next_cursor: next }: JsonObject): boolean =>
  next !== undefined && objectsOf(data).some((one) => isSpan(one));

/** A log record as Python's console exporter prints it. */
const isLogRecord = (record: JsonObject): boolean =>
  record.body !== undefined &&
  record.name === undefined &&
  record.trace_id !== undefined &&
  record.span_id !== undefined &&
  record.attributes !== undefined;

/** An export of MLflow, or the artifact `traces.json` of its store of files, whose head lies in another file. */
const isMlflow = ({ info, data, spans }: JsonObject): boolean =>
  (isJsonObject(info) &&
    isJsonObject(data) &&
    Array.isArray(data.spans) &&
    (info.trace_id ?? info.request_id) !== undefined) ||
  objectsOf(spans).some(
    ({ attributes }) => isJsonObject(attributes) && attributes['mlflow.traceRequestId'] !== undefined,
  );

function requestEvents(record: JsonObject): JsonObject[] {
  const found: JsonObject[] = [];
  for (const level of LEVELS) {
    const outer = listUnder(requestIn(record), level.outer);
    for (const resource of outer?.list ?? []) {
      const middle = listUnder(resource, level.middle);
      for (const scope of middle?.list ?? []) {
        const inner = listUnder(scope, level.inner);
        for (const one of inner?.list ?? [])
          if (outer !== null && middle !== null && inner !== null)
            found.push({ [outer.key]: [{ ...resource, [middle.key]: [{ ...scope, [inner.key]: [one] }] }] });
      }
    }
  }
  return found;
}

const SCOPES = ['scopeSpans', 'scope_spans', 'instrumentationLibrarySpans', 'instrumentation_library_spans'] as const;
const LEVELS = [
  { outer: ['resourceSpans', 'resource_spans', 'batches'], middle: SCOPES, inner: ['spans'], isLog: false },
  {
    outer: ['resourceLogs', 'resource_logs'],
    middle: ['scopeLogs', 'scope_logs', 'instrumentationLibraryLogs'],
    inner: ['logRecords', 'log_records', 'logs'],
    isLog: true,
  },
] as const;

/** The first of these keys under which there is a list. */
function listUnder(record: JsonObject, keys: readonly string[]): { key: string; list: JsonObject[] } | null {
  for (const key of keys) if (Array.isArray(record[key])) return { key, list: objectsOf(record[key]) };
  return null;
}

/** The span or log record of an event, whether it is a log record, and the attributes of its resource. */
function innerOf(event: JsonObject): { one: JsonObject; isLog: boolean; resource: JsonObject } {
  for (const { outer, middle, inner, isLog } of LEVELS) {
    const resource = listUnder(event, outer)?.list[0];
    if (resource === undefined) continue;
    const scope = listUnder(resource, middle)?.list[0];
    const one = scope === undefined ? undefined : listUnder(scope, inner)?.list[0];
    return { one: one ?? {}, isLog, resource: isJsonObject(resource.resource) ? attributesOf(resource.resource) : {} };
  }
  const [jaeger] = objectsOf(event.spans);
  if (jaeger !== undefined && isJaeger(jaeger))
    return { one: ofJaeger(jaeger), isLog: false, resource: process(event, jaeger) };
  if (isZipkin(event)) return { one: ofZipkin(event), isLog: false, resource: service(event.localEndpoint) };
  return {
    one: event,
    isLog: isLogRecord(event),
    resource: isJsonObject(event.resource) ? attributesOf(event.resource) : {},
  };
}

const attributesOf = ({ attributes }: JsonObject): JsonObject => plainAttributes(attributes);
const service = (value: JsonValue | undefined): JsonObject =>
  isJsonObject(value) && value.serviceName !== undefined ? { 'service.name': value.serviceName } : {};

const process = ({ processes }: JsonObject, { processID, process }: JsonObject): JsonObject => {
  const held = isJsonObject(processes) && typeof processID === 'string' ? processes[processID] : process;
  return isJsonObject(held) ? { ...taggedValues(held.tags), ...service(held) } : {};
};

const taggedValues = (tags: JsonValue | undefined): JsonObject =>
  Object.fromEntries(
    objectsOf(tags).flatMap(({ key, value }) => (typeof key === 'string' ? [[key, value ?? null]] : [])),
  );

/** A span of Jaeger by the names of OTLP. Its times are microseconds. */
function ofJaeger(span: JsonObject): JsonObject {
  const attributes = taggedValues(span.tags);
  const parents = objectsOf(span.references).filter(({ refType }) => refType !== 'FOLLOWS_FROM');
  return {
    traceId: span.traceID ?? null,
    spanId: span.spanID ?? null,
    parentSpanId: parents[0]?.spanID ?? span.parentSpanID ?? null,
    name: span.operationName ?? null,
    ...timesFrom(span.startTime, span.duration),
    attributes,
    events: objectsOf(span.logs).map(({ fields }) => {
      const { event, ...held } = taggedValues(fields);
      return { name: event ?? null, attributes: held };
    }),
    status: taggedStatus(attributes),
  };
}

/** A span of Zipkin by the names of OTLP. All of its tags are texts; an event is a line `"name": {…}`. */
function ofZipkin(span: JsonObject): JsonObject {
  const attributes = objectIn(span.tags);
  return {
    traceId: span.traceId ?? null,
    spanId: span.id ?? null,
    parentSpanId: span.parentId ?? null,
    name: span.name ?? null,
    ...timesFrom(span.timestamp, span.duration),
    attributes,
    events: objectsOf(span.annotations).map(({ value }) => {
      const [, name, held] = /^"?([^":{]+)"?\s*:\s*(\{.*\})$/s.exec(typeof value === 'string' ? value : '') ?? [];
      const inner = held === undefined ? undefined : parsed(held);
      return name !== undefined && isJsonObject(inner)
        ? { name, attributes: inner }
        : { name: value ?? null, attributes: {} };
    }),
    status: taggedStatus(attributes),
  };
}

function timesFrom(start: JsonValue | undefined, duration: JsonValue | undefined): JsonObject {
  const [from, length] = [numberOf(start), numberOf(duration)];
  return {
    ...(from === null ? {} : { start_time: from }),
    ...(from === null || length === null ? {} : { end_time: from + length }),
  };
}

/** How exporters write a failed span where there is no status. */
function taggedStatus(attributes: JsonObject): JsonObject {
  const { error } = attributes;
  const isError =
    attributes['otel.status_code'] === 'ERROR' || (error !== undefined && error !== false && error !== 'false');
  const said = attributes['otel.status_description'] ?? (typeof error === 'string' && error !== 'true' ? error : null);
  return isError ? { code: 2, message: said } : {};
}

const spanContext = (one: JsonObject): JsonObject => objectIn(one.context);

export function traceOf(event: JsonObject): string | null {
  const { one } = innerOf(event);
  return hexId(one.traceId ?? one.trace_id ?? spanContext(one).trace_id ?? one['context.trace_id']);
}

/** The service that a resource names. */
export const serviceOf = (event: JsonObject): string | null =>
  idOf(attribute(innerOf(event).resource, 'service.name') ?? null);

/** Any spelling of a span. @param at the JSON pointer of its event */
export function flatSpan(event: JsonObject, at: string): TraceSpan {
  const { one, isLog } = innerOf(event);
  const context = spanContext(one);
  const columns = Object.entries(one).filter(([key]) => key.startsWith('attributes.'));
  const own = plainAttributes(one.attributes);
  const attributes: JsonObject =
    columns.length === 0
      ? own
      : Object.assign(
          Object.create(null),
          own,
          Object.fromEntries(columns.map(([key, value]) => [key.slice('attributes.'.length), undotted(value)])),
        );
  const events: SpanEvent[] = isLog
    ? [
        {
          name: idOf(one.eventName ?? one.event_name ?? attributes['event.name'] ?? null) ?? '',
          attributes,
          body: logBody(one.body),
          time: sortableTime(logTime(one)),
        },
      ]
    : objectsOf(one.events).map((held) => ({
        name: idOf(held.name ?? null) ?? '',
        attributes: plainAttributes(held.attributes),
        body: undefined,
        time: null,
      }));
  const start = traceSeconds(
    one.startTimeUnixNano ??
      one.start_time_unix_nano ??
      one.start_time ??
      one.startTime ??
      (isLog ? logTime(one) : undefined),
  );
  const end = traceSeconds(one.endTimeUnixNano ?? one.end_time_unix_nano ?? one.end_time ?? one.endTime);
  return {
    trace: traceOf(event),
    id: hexId(one.spanId ?? one.span_id ?? context.span_id ?? one['context.span_id']),
    parent: hexId(one.parentSpanId ?? one.parent_span_id ?? one.parent_id),
    name: idOf(one.name ?? null) ?? '',
    start,
    end,
    attributes: isLog ? {} : attributes,
    events,
    error: spanError(one, events),
    dropped: (numberOf(one.droppedAttributesCount) ?? 0) + (numberOf(one.droppedEventsCount) ?? 0),
    at,
  };
}

/** The time of an event is often 0; then the time of its observation counts. */
const logTime = (one: JsonObject): JsonValue | undefined =>
  [one.timeUnixNano, one.time_unix_nano, one.timestamp].find((time) => traceSeconds(time) !== null) ??
  one.observedTimeUnixNano ??
  one.observed_time_unix_nano ??
  one.observed_timestamp;

/** Texts of one writer that sort as its times do, to the nanosecond. */
function sortableTime(value: JsonValue | undefined): string | null {
  if (traceSeconds(value) === null) return null;
  const text = String(value);
  return /^\d+$/.test(text) ? text.padStart(20, '0') : text;
}

/** The body of a log record: OTLP's value, or plain. */
const logBody = (body: JsonValue | undefined): JsonValue =>
  isJsonObject(body) && /(?:V|_v)alue$/.test(Object.keys(body)[0] ?? '') ? otlpValue(body) : (body ?? null);

/** The message of a failed span; its exception if the status says nothing. */
function spanError(one: JsonObject, events: readonly SpanEvent[]): string | null {
  const status = objectIn(one.status);
  const code = status.code ?? status.status_code ?? one.status_code ?? one.status;
  const isError = code === 2 || (typeof code === 'string' && /(?:^|_)ERROR$/i.test(code));
  if (!isError) return null;
  const said = idOf(status.message ?? status.description ?? one.status_message ?? null);
  const exception = events.find(({ name }) => name === 'exception')?.attributes ?? {};
  return said || idOf(attribute(exception, 'exception.message') ?? null) || 'it failed; the tracer names no reason';
}
