import { isJsonObject, type JsonObject, type JsonValue } from '../json/value.ts';
import { type TimeKind, type TimeSpan, type Times, timesOf } from '../rollout/times.ts';
import { numberOf, objectsOf } from './values.ts';

// Times from writers that store tracer spans beside their samples: each has a name, a start and an end.

/** From the first moment to the last, in seconds; null for fewer than two. */
export function timesBetween(moments: readonly number[]): Times | null {
  if (moments.length < 2) return null;
  const first = moments.reduce((least, at) => Math.min(least, at));
  return timesOf(first, moments.reduce((most, at) => Math.max(most, at)) - first, []);
}

interface NamedTimes {
  kind: TimeKind | null;
  /** Seconds since 1970. */
  start: number;
  end: number;
  /** Seconds from the request to its first token, as recorded. */
  first: number | null;
}

/**
 * slime's `Sample.trace` (`slime/utils/trace_utils.py`): starts and ends are separate events. A span that never ended
 * has no length.
 */
export function slimeTimes({ sample }: JsonObject): Times | null {
  const trace = isJsonObject(sample) && isJsonObject(sample.trace) ? sample.trace : null;
  if (trace === null) return null;
  const starts = new Map<JsonValue, { name: string; at: number }>();
  const spans: NamedTimes[] = [];
  const moments: number[] = [];
  for (const { type, span_id: id = null, name, ts } of objectsOf(trace.events)) {
    const at = numberOf(ts);
    if (at === null) continue;
    moments.push(at);
    if (type === 'span_start') starts.set(id, { name: String(name), at });
    const begun = type === 'span_end' ? starts.get(id) : undefined;
    if (begun !== undefined) spans.push({ kind: slimeKind(begun.name), start: begun.at, end: at, first: null });
  }
  return ofSpans(spans, moments);
}

const slimeKind = (name: string): TimeKind | null => {
  // A span that contains the others, such as `generate_and_rm`, adds no information.
  if (/generate$/.test(name)) return 'model';
  if (/^(?:reward_model|rm|verif)/.test(name)) return 'score';
  if (/tool|sandbox/.test(name)) return 'tool';
  return /queue|wait/.test(name) ? 'queue' : null;
};

/**
 * OpenTelemetry spans in the record, as written by OTLP or by Python's exporter; kinds follow the conventions for
 * generative AI.
 */
export function otelTimes(record: JsonObject): Times | null {
  if (record.otel_spans === undefined && record.spans === undefined) return null;
  const spans = ['otel_spans', 'spans'].flatMap((key) => objectsOf(record[key])).flatMap(otelSpan);
  return ofSpans(
    spans,
    spans.flatMap(({ start, end }) => [start, end]),
  );
}

function otelSpan(span: JsonObject): NamedTimes[] {
  const start = moment(span.startTimeUnixNano ?? span.start_time_unix_nano, span.start_time);
  const end = moment(span.endTimeUnixNano ?? span.end_time_unix_nano, span.end_time);
  if (start === null || end === null) return [];
  const attributes = attributesOf(span.attributes);
  const operation = attributes.get('gen_ai.operation.name') ?? attributes.get('openinference.span.kind');
  const first = [
    'gen_ai.response.time_to_first_chunk',
    'gen_ai.response.time_to_first_token',
    'gen_ai.server.time_to_first_token',
  ].map((key) => numberOf(attributes.get(key)));
  return [{ kind: KINDS.get(String(operation)) ?? null, start, end, first: first.find((one) => one !== null) ?? null }];
}

/** `invoke_agent` and similar spans contain the others. */
const KINDS: ReadonlyMap<string, TimeKind> = new Map([
  ['chat', 'model'],
  ['text_completion', 'model'],
  ['generate_content', 'model'],
  ['LLM', 'model'],
  ['execute_tool', 'tool'],
  ['TOOL', 'tool'],
  ['evaluate', 'score'],
  ['EVALUATOR', 'score'],
]);

/** Nanoseconds since 1970 judging by the key, else a written time, or seconds. */
function moment(nano: JsonValue | undefined, other: JsonValue | undefined): number | null {
  const count = typeof nano === 'string' && /^\d+$/.test(nano) ? Number(nano) : numberOf(nano);
  if (count !== null) return count / 1e9;
  if (typeof other !== 'string') return numberOf(other);
  const written = Date.parse(other);
  return Number.isNaN(written) ? null : written / 1000;
}

/** `[{key, value: {stringValue}}]` or an object. */
function attributesOf(value: JsonValue | undefined): Map<string, JsonValue> {
  if (isJsonObject(value)) return new Map(Object.entries(value));
  return new Map(
    objectsOf(value).flatMap(({ key, value: one }): [string, JsonValue][] => {
      const [inner] = isJsonObject(one) ? Object.values(one) : [one];
      return typeof key === 'string' && inner !== undefined ? [[key, inner]] : [];
    }),
  );
}

/** @param moments all recorded times, seconds since 1970: they bound the duration */
function ofSpans(spans: readonly NamedTimes[], moments: readonly number[]): Times | null {
  if (moments.length === 0) return null;
  const start = moments.reduce((least, at) => Math.min(least, at));
  const wall = moments.reduce((most, at) => Math.max(most, at)) - start;
  const known = spans.flatMap(({ kind, ...span }): (TimeSpan & { first: number | null })[] =>
    kind === null ? [] : [{ kind, start: span.start - start, end: span.end - start, turn: null, first: span.first }],
  );
  const times = timesOf(
    start,
    wall,
    known.map(({ first: _, ...span }) => span),
  );
  const [asked] = known.filter(({ kind }) => kind === 'model').sort((a, b) => a.start - b.start);
  // A first token after the end is in another unit.
  return times === null || asked?.first == null || asked.first > asked.end - asked.start
    ? times
    : { ...times, firstToken: asked.first };
}
