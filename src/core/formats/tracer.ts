import type { JsonObject, JsonValue } from '../json/value.ts';
import { resultText } from './any-message.ts';
import { goesOn, type TracedCall } from './call-histories.ts';
import { type Format, NO_TRAINING, type Session, type SharedId } from './format.ts';
import { rolloutOfCalls, type TracedRun, type TraceParts } from './model-calls.ts';
import { SpanTree, type TraceSpan, traceSeconds } from './spans.ts';
import { idOf, objectsOf } from './values.ts';

type Told = 'id' | 'name' | 'start' | 'end' | 'error' | 'agent';
/** A request or a run; what it does not tell is as its span has it. */
type OfSpan<T> = Omit<T, Told> & Partial<Pick<T, Told & keyof T>>;

/** A span with its meaning. Requests and runs are read only where they count. */
export interface TracedSpan {
  span: TraceSpan;
  kind: 'model' | 'tool' | 'other';
  call?(tree: SpanTree): OfSpan<TracedCall>;
  run?(): OfSpan<TracedRun>;
}

/** A tool that writes traces: what its events look like, and which spans they are. */
export interface Tracer extends Omit<Session, 'sharedIdOf' | 'continues'> {
  basis: NonNullable<Format['basis']>;
  mapping: Readonly<Record<string, string>>;
  /** The conversation of an event, which several traces may share. */
  conversationOf?(event: JsonObject): SharedId | null;
  spansOf(events: readonly JsonObject[]): TracedSpan[];
  /** All else that the events say of the rollout. */
  aboutOf?(events: readonly JsonObject[], tree: SpanTree): Partial<TraceParts>;
}

/** The files of a tracer: each trace is a session. */
export function tracerSession(tracer: Tracer): Session {
  const { name, isEvent, keyOf, eventsOf, eventIdOf, conversationOf } = tracer;
  return {
    name,
    isEvent,
    keyOf,
    ...(eventsOf === undefined ? {} : { eventsOf }),
    ...(eventIdOf === undefined ? {} : { eventIdOf }),
    ...(conversationOf === undefined
      ? {}
      : {
          sharedIdOf: conversationOf,
          continues: (earlier, later) => goesOn(callsIn(tracer, earlier).calls, callsIn(tracer, later).calls),
        }),
  };
}

/** The rollouts of a tracer: its requests joined by their beginnings. */
export function tracerFormat(tracer: Tracer): Format {
  return {
    name: tracer.name,
    ...NO_TRAINING,
    basis: tracer.basis,
    mapping: tracer.mapping,
    detects: (record) => record.session_of === tracer.name,
    read(record, context) {
      const events = objectsOf(record.events);
      const { calls, runs, tree } = callsIn(tracer, events);
      const about = tracer.aboutOf?.(events, tree) ?? {};
      const { roots } = tree;
      const first = roots.find(({ parent }) => parent === null) ?? roots[0] ?? tree.spans[0];
      const failed = roots.find(({ error }) => error !== null)?.error ?? null;
      const traces = [...new Set(tree.spans.flatMap(({ trace }) => trace ?? []))];
      return rolloutOfCalls(
        {
          format: tracer.name,
          record,
          calls,
          runs,
          uid: traces[0] ?? null,
          status: failed === null ? null : 'error',
          problems: tree.problems,
          moments: tree.spans.flatMap(({ start, end }) => [start, end]).filter((one) => one !== null),
          ...about,
          extras: {
            ...(first === undefined || first.name === '' ? {} : { name: first.name }),
            ...(traces.length > 1 ? { traces } : {}),
            ...(failed === null ? {} : { error: failed }),
            ...about.extras,
          },
        },
        context,
      );
    },
  };
}

function callsIn(
  tracer: Tracer,
  events: readonly JsonObject[],
): { calls: TracedCall[]; runs: TracedRun[]; tree: SpanTree } {
  const traced = tracer.spansOf(events);
  const tree = new SpanTree(traced.map(({ span }) => span));
  const kinds = new Map(traced.map(({ span, kind }) => [span, kind]));
  const models = traced.filter(({ kind }) => kind === 'model');
  // An SDK and the client below it are both traced: the inner span is the request.
  const outer = new Set(models.flatMap(({ span }) => tree.above(span)).filter((span) => kinds.get(span) === 'model'));
  return {
    tree,
    calls: models
      .filter(({ span }) => !outer.has(span))
      .flatMap(({ span, call }) => (call === undefined ? [] : [{ agent: null, ...timesOfSpan(span), ...call(tree) }])),
    runs: traced.flatMap(({ span, run }) =>
      run === undefined ? [] : [{ id: null, name: span.name, ...timesOfSpan(span), ...run() }],
    ),
  };
}

const timesOfSpan = ({ start, end, error }: TraceSpan) => ({ start, end, error });

type Json = JsonValue | undefined;

/** A span of a writer whose spans have no attributes and no events. */
export const plainSpan = (
  at: string,
  {
    trace,
    id,
    parent,
    name,
    start,
    end,
    error,
  }: Record<'trace' | 'id' | 'parent' | 'name' | 'start' | 'end', Json> & {
    error: string | null;
  },
): TraceSpan => ({
  trace: idOf(trace ?? null),
  id: idOf(id ?? null),
  parent: idOf(parent ?? null),
  name: idOf(name ?? null) ?? '',
  start: traceSeconds(start),
  end: traceSeconds(end),
  attributes: {},
  events: [],
  error,
  dropped: 0,
  at,
});

/** A tool's output as a result; null if none is recorded. */
export const toolOutput = (output: Json, pointer: string): TracedRun['result'] =>
  output === undefined || output === null ? null : { pointer, text: resultText(output) };
