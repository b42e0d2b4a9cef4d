import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { idOf, numberOf, objectsOf, parsed } from './values.ts';

/** A span of any tracer, or the log records that belong to one. */
export interface TraceSpan {
  trace: string | null;
  id: string | null;
  parent: string | null;
  name: string;
  /** Seconds since 1970. */
  start: number | null;
  end: number | null;
  attributes: JsonObject;
  events: SpanEvent[];
  /** The message of a failed span; null if it did not fail. */
  error: string | null;
  /** Omissions that the tracer reports. */
  dropped: number;
  /** The JSON pointer of its event in the record. */
  at: string;
}

export interface SpanEvent {
  name: string;
  attributes: JsonObject;
  /** The body of a log record. */
  body: JsonValue | undefined;
  /** The time of a log record, by which those of a span are in order. */
  time: string | null;
}

/** The plain value of OTLP's `{stringValue}`, `{arrayValue: {values}}`, `{kvlistValue: {values}}`. */
export function otlpValue(value: JsonValue | undefined): JsonValue {
  if (!isJsonObject(value)) return value ?? null;
  const [entry] = Object.entries(value);
  if (entry === undefined) return null;
  const [kind, held] = entry;
  // Protobuf's own names have an underscore.
  switch (/^(array|kvlist|int|string|double|bool|bytes)(?:Value|_value)$/.exec(kind)?.[1]) {
    case undefined:
      return value;
    case 'array':
      return isJsonObject(held) && Array.isArray(held.values) ? held.values.map(otlpValue) : [];
    case 'kvlist':
      return isJsonObject(held) ? plainAttributes(held.values) : {};
    case 'int':
      return numberOf(held) ?? null;
    default:
      return held ?? null;
  }
}

/** Attributes as an object, from OTLP's list or as they are. */
export function plainAttributes(value: JsonValue | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  const found: JsonObject = Object.create(null);
  for (const { key, value: one } of objectsOf(value)) if (typeof key === 'string') found[key] = otlpValue(one);
  return found;
}

/**
 * An attribute by its dotted name: as a key, as an object in an object, or gathered from the keys `NAME.0.role` that flat attributes have
 * for lists. undefined if missing.
 */
export function attribute(attributes: JsonObject, name: string): JsonValue | undefined {
  if (Object.hasOwn(attributes, name)) return attributes[name];
  const deeper = nestedValue(attributes, name.split('.'));
  if (deeper !== undefined) return deeper;
  const prefix = `${name}.`;
  const flat = Object.keys(attributes).filter((key) => key.startsWith(prefix));
  if (flat.length === 0) return undefined;
  const root: JsonObject = Object.create(null);
  for (const key of flat) {
    let level = root;
    const way = key.slice(prefix.length).split('.');
    for (const step of way.slice(0, -1)) {
      const next = level[step];
      if (isJsonObject(next)) level = next;
      else {
        const made: JsonObject = Object.create(null);
        level[step] = made;
        level = made;
      }
    }
    const last = way.at(-1) ?? '';
    if (level[last] === undefined) level[last] = attributes[key] ?? null;
  }
  return asLists(root);
}

/** Phoenix's tables have lists of objects whose keys are dotted: `message.tool_calls`, `tool_call.function.name`. */
export const undotted = (value: JsonValue): JsonValue =>
  objectsOf(value).some((one) => Object.keys(one).some((key) => DOTTED.test(key))) ? withoutDots(value) : value;

/** The parts of OpenInference's names for what a list holds. */
const DOTTED = /^(?:message|message_content|tool_call|tool|image|document)\./;

function withoutDots(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDots);
  if (!isJsonObject(value)) return value;
  const root: JsonObject = Object.create(null);
  for (const key of Object.keys(value)) {
    const [head = '', ...rest] = key.split('.');
    const before = root[head];
    if (rest.length === 0) root[head] = value[key] ?? null;
    else root[head] = { ...objectIn(before), [rest.join('.')]: value[key] ?? null };
  }
  for (const key of Object.keys(root)) root[key] = withoutDots(root[key] ?? null);
  return root;
}

function nestedValue(value: JsonValue, way: readonly string[]): JsonValue | undefined {
  if (way.length === 0) return value;
  if (!isJsonObject(value)) return undefined;
  for (let length = way.length; length > 0; length--) {
    const key = way.slice(0, length).join('.');
    if (!Object.hasOwn(value, key)) continue;
    const found = nestedValue(value[key] ?? null, way.slice(length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Objects whose keys count from 0 are lists. */
function asLists(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  const entries = keys.map((key): [string, JsonValue] => [key, asLists(value[key] ?? null)]);
  if (keys.length === 0 || !keys.every((key) => /^\d{1,6}$/.test(key))) return Object.fromEntries(entries);
  return entries.sort(([a], [b]) => Number(a) - Number(b)).map(([, one]) => one);
}

/** The first of these attributes that is there and not null. */
export function firstAttribute(attributes: JsonObject, ...names: readonly string[]): JsonValue | undefined {
  for (const name of names) {
    const value = attribute(attributes, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Seconds since 1970 of a tracer's time: nanoseconds, milliseconds, seconds, or a written date. null for anything else. */
export function traceSeconds(value: JsonValue | undefined): number | null {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value)) {
    const found = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?/.exec(value);
    if (found === null) return null;
    const whole = Date.parse(`${found[1]}T${found[2]}${found[4] ?? 'Z'}`);
    return Number.isNaN(whole) ? null : whole / 1000 + Number(found[3] ?? 0);
  }
  const number = numberOf(value);
  if (number === null || !Number.isFinite(number) || number <= 0) return null;
  // The unit is the one that gives a date of this age.
  const unit = [1, 1e3, 1e6, 1e9].find((one) => number / one < 1e11 / 10);
  return unit === undefined ? null : number / unit;
}

/** The spans of one session: those of a trace, parents first where they are known. */
export class SpanTree {
  readonly spans: readonly TraceSpan[];
  readonly #byId = new Map<string, TraceSpan>();
  readonly #above = new Map<TraceSpan, readonly TraceSpan[]>();

  constructor(spans: readonly TraceSpan[]) {
    this.spans = spans;
    for (const span of spans) if (span.id !== null) this.#byId.set(span.id, span);
  }

  /** All above a span, the nearest first; a loop ends it. */
  above(span: TraceSpan): readonly TraceSpan[] {
    const known = this.#above.get(span);
    if (known !== undefined) return known;
    const found: TraceSpan[] = [];
    const seen = new Set([span]);
    for (let one = this.parentOf(span); one !== undefined && !seen.has(one); one = this.parentOf(one)) {
      seen.add(one);
      found.push(one);
    }
    this.#above.set(span, found);
    return found;
  }

  parentOf({ parent }: TraceSpan): TraceSpan | undefined {
    return parent === null ? undefined : this.#byId.get(parent);
  }

  get roots(): readonly TraceSpan[] {
    return this.spans.filter((span) => this.parentOf(span) === undefined);
  }

  /** Missing parents, loops, clocks apart, attributes that were dropped. */
  get problems(): string[] {
    const missing = this.spans.filter((span) => span.parent !== null && this.parentOf(span) === undefined).length;
    const looping = this.spans.filter((span) => this.#loops(span)).length;
    const early = this.spans.filter((span) => {
      const parent = this.parentOf(span);
      return parent?.start != null && span.start !== null && span.start < parent.start - CLOCK;
    }).length;
    const backwards = this.spans.filter(({ start, end }) => start !== null && end !== null && end < start).length;
    const dropped = this.spans.reduce((sum, one) => sum + one.dropped, 0);
    const say = (count: number, one: string, more: string) =>
      count === 0 ? [] : [count === 1 ? `1 span ${one}` : `${count} spans ${more}`];
    return [
      ...say(missing, 'names a parent that is not there', 'name a parent that is not there'),
      ...say(looping, 'is its own ancestor', 'are their own ancestors'),
      ...say(early, 'begins before its parent: clocks differ', 'begin before their parents: clocks differ'),
      ...say(backwards, 'ends before it begins', 'end before they begin'),
      ...(dropped === 0 ? [] : [`the tracer dropped ${dropped} attributes or events`]),
    ];
  }

  #loops(span: TraceSpan): boolean {
    const seen = new Set([span]);
    for (let one = this.parentOf(span); one !== undefined; one = this.parentOf(one)) {
      if (one === span) return true;
      if (seen.has(one)) return false;
      seen.add(one);
    }
    return false;
  }
}

/** Clocks of one machine differ by less. */
const CLOCK = 0.5;

/** A span's id or a trace's: hexadecimal with or without its prefix. */
export function hexId(value: JsonValue | undefined): string | null {
  const id = idOf(value ?? null);
  if (id === null || id === '') return null;
  const bare = id.replace(/^0x/i, '');
  return /^0+$/.test(bare) ? null : /^[0-9a-f]+$/i.test(bare) ? bare.toLowerCase() : bare;
}

/** MLflow writes the word as JSON. */
export const parsedWord = (text: string): string | null => {
  const value = text.startsWith('"') ? parsed(text) : undefined;
  return typeof value === 'string' ? value : null;
};
