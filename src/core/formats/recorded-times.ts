import { parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import { itemAt, numberInAt } from '../lists/at.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { type TimeKind, type TimeSpan, type Times, timesOf } from '../rollout/times.ts';
import { numberOf, objectsOf } from './values.ts';

// The places where writers keep their times. Each function returns null if the record holds none.

/** This program's engine: seconds from the rollout's start, and calls with their waiting times. */
export function engineTimes(record: JsonObject): Times | null {
  const generations = objectsOf(record.generations).flatMap((one) =>
    lasting('model', one.started, one.duration, numberOf(one.turn)),
  );
  const calls = objectsOf(record.tool_calls).flatMap((one) => {
    const turn = numberOf(one.result_turn);
    const waited = numberOf(one.waited) ?? 0;
    const started = numberOf(one.started);
    if (started === null) return [];
    return [
      ...(waited > 0 ? lasting('queue', started, waited, turn) : []),
      ...lasting('tool', started + waited, one.duration, turn),
    ];
  });
  return timesOf(numberOf(record.started_at), numberOf(record.duration), [...generations, ...calls]);
}

/** A trace of verifiers v1 and prime-rl: `timing` by phase, `calls[].time` by request of the model, all in seconds since 1970. */
export function traceTimes({ timing, calls, info }: JsonObject): Times | null {
  if (!isJsonObject(timing)) return null;
  const start = numberOf(timing.start);
  if (start === null || start <= 0) return null;
  const phases: [TimeKind, JsonValue | undefined][] = [
    ['setup', timing.boot],
    ['setup', timing.setup],
    ['score', timing.finalize],
    ['score', timing.scoring],
  ];
  const spans = phases.flatMap(([kind, phase]) => between(kind, phase, start));
  const own = objectsOf(calls);
  const asked = own.flatMap(({ time, node }) => between('model', time, start, numberOf(node)));
  const agent = objectIn(timing.agent);
  const model = isJsonObject(agent.model) ? numberOf(agent.model.duration) : null;
  const dispatched = isJsonObject(info) && isJsonObject(info.dispatch) ? numberOf(info.dispatch.time) : null;
  const waited = dispatched === null || dispatched >= start ? [] : [{ kind: 'queue' as const, from: dispatched }];
  const first = waited.length === 0 ? start : dispatched!;
  const shift = start - first;
  const moved = [...spans, ...asked].map((span) => ({ ...span, start: span.start + shift, end: span.end + shift }));
  const queue = waited.map((): TimeSpan => ({ kind: 'queue', start: 0, end: shift, turn: null }));
  return timesOf(first, null, [...queue, ...moved], asked.length === 0 && model !== null ? { model } : {});
}

/**
 * verifiers before v1: `timing` with spans of model and environment, or in the oldest with sums in milliseconds, as its
 * key names say.
 */
export function verifiersTimes(record: JsonObject): Times | null {
  const timing = typeof record.timing === 'string' ? timesValue(record.timing) : record.timing;
  if (!isJsonObject(timing)) return null;
  const start = numberOf(timing.start_time);
  if (start !== null && isJsonObject(timing.generation)) {
    const listed = (kind: TimeKind, value: JsonValue | undefined) =>
      isJsonObject(value) ? objectsOf(value.spans).flatMap((one) => between(kind, one, start)) : [];
    const model = listed('model', timing.model);
    return timesOf(start, numberOf(timing.total), [
      ...between('setup', timing.setup, start),
      ...(model.length > 0 ? model : []),
      ...listed('tool', timing.env),
      ...between('score', timing.scoring, start),
    ]);
  }
  const total = seconds(timing.total_ms);
  if (total === null) return null;
  const [model, score] = [seconds(timing.generation_ms), seconds(timing.scoring_ms)];
  // Generation and the calls in between are one number there.
  return timesOf(start, total, [], { ...(model === null ? {} : { model }), ...(score === null ? {} : { score }) });
}

/** A sample of Inspect: events with clock times; those of models and tools include their completion. */
export function inspectTimes(record: JsonObject): Times | null {
  const events = objectsOf(record.events);
  const stamps = events.map(({ timestamp }) => clock(timestamp)).filter((at) => at !== null);
  const last =
    clock(record.completed_at) ?? stamps.reduce((latest, at) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  const total = numberOf(record.total_time);
  // The total excludes the time before the solvers, such as starting a sandbox.
  const start = clock(record.started_at) ?? (total === null ? (stamps[0] ?? null) : last - total);
  if (start === null || !Number.isFinite(start)) return null;
  const spans = events.flatMap(({ event, timestamp, completed }): TimeSpan[] => {
    const kind = event === 'model' ? 'model' : event === 'tool' ? 'tool' : null;
    const [from, to] = [clock(timestamp), clock(completed)];
    return kind === null || from === null || to === null
      ? []
      : [{ kind, start: from - start, end: to - start, turn: null }];
  });
  return timesOf(start, last - start, spans);
}

/**
 * Sessions of coding agents: each event has a clock time, few a duration. The gaps are left blank, because nothing
 * recorded explains them.
 */
export function sessionTimes({ events }: JsonObject): Times | null {
  const stamped = objectsOf(events).flatMap((event) => {
    const at = clock(event.timestamp);
    return at === null ? [] : [{ event, at }];
  });
  const [first] = stamped;
  if (first === undefined) return null;
  const spans = stamped.flatMap(({ event, at }): TimeSpan[] => {
    const result = objectIn(event.toolUseResult);
    const took = seconds(result.durationMs ?? result.totalDurationMs);
    return took === null ? [] : [{ kind: 'tool', start: at - took - first.at, end: at - first.at, turn: null }];
  });
  const last = stamped.reduce((latest, { at }) => Math.max(latest, at), first.at);
  const times = timesOf(first.at, last - first.at, spans);
  // Codex records it for each task.
  const waits = stamped.map(
    ({ event: { payload } }) => isJsonObject(payload) && seconds(payload.time_to_first_token_ms),
  );
  const firstToken = waits.find((one) => typeof one === 'number');
  return times === null || typeof firstToken !== 'number' ? times : { ...times, firstToken };
}

/** tau2: the time of each message, and in newer ones the model's duration. */
export function tauTimes(record: JsonObject): Times | null {
  const start = clock(record.start_time);
  const wall = numberOf(record.duration);
  if (start === null && wall === null) return null;
  const spans = objectsOf(record.messages).flatMap(({ timestamp, generation_time_seconds: took }, turn): TimeSpan[] => {
    const [at, lasted] = [clock(timestamp), numberOf(took)];
    return start === null || at === null || lasted === null
      ? []
      : [{ kind: 'model', start: at - lasted - start, end: at - start, turn }];
  });
  return timesOf(start, wall, spans);
}

/** A trial of Harbor: its phases by the clock; the agent's model and tool calls are not separated. */
export function harborTimes(record: JsonObject): Times | null {
  const result = isJsonObject(record.result) ? record.result : record;
  const start = clock(result.started_at);
  const end = clock(result.finished_at);
  if (start === null) return null;
  const phase = (kind: TimeKind, value: JsonValue | undefined): TimeSpan[] => {
    if (!isJsonObject(value)) return [];
    const [from, to] = [clock(value.started_at), clock(value.finished_at)];
    return from === null || to === null ? [] : [{ kind, start: from - start, end: to - start, turn: null }];
  };
  return timesOf(start, end === null ? null : end - start, [
    ...phase('setup', result.environment_setup),
    ...phase('setup', result.agent_setup),
    ...phase('score', result.verifier),
  ]);
}

/** verl's agent loop: total seconds of generation and of tool calls (`AgentLoopMetrics`), if somebody dumped them. */
export function verlTimes(record: JsonObject): Times | null {
  const metrics = isJsonObject(record.metrics) ? record.metrics : record;
  // `tool_calls` alone may be a count.
  const [model, tool] = [numberOf(metrics.generate_sequences), numberOf(metrics.tool_calls)];
  return model === null || tool === null ? null : timesOf(null, model + tool, [], { model, tool });
}

/** Assigns turns to stretches without one, if there are exactly as many as turns of the model, or of tools. */
export function withTurns(times: Times, { turns, responseTurn }: Pick<Rollout, 'turns' | 'responseTurn'>): Times {
  const places = (role: string): number[] =>
    turns.slice(responseTurn).flatMap((turn) => (turn.role === role ? [turn.index] : []));
  const spans = [...times.spans];
  for (const [kind, role] of [
    ['model', 'assistant'],
    ['tool', 'tool'],
  ] as const) {
    const own = [...spans.keys()]
      .filter((at) => itemAt(spans, at).kind === kind)
      .sort((a, b) => itemAt(spans, a).start - itemAt(spans, b).start);
    const found = places(role);
    const isPlaced = own.some((at) => (itemAt(spans, at).turn ?? turns.length) < turns.length);
    if (!isPlaced && own.length === found.length)
      for (const [i, at] of own.entries()) spans[at] = { ...itemAt(spans, at), turn: numberInAt(found, i) };
  }
  return { ...times, spans };
}

const lasting = (
  kind: TimeKind,
  started: JsonValue | undefined,
  duration: JsonValue | undefined,
  turn: number | null,
): TimeSpan[] => {
  const [start, took] = [numberOf(started), numberOf(duration)];
  return start === null || took === null ? [] : [{ kind, start, end: start + took, turn }];
};

/** `{start, end}` in seconds since 1970; writers put 0 if a phase did not begin. */
function between(kind: TimeKind, value: JsonValue | undefined, origin: number, turn: number | null = null): TimeSpan[] {
  if (!isJsonObject(value)) return [];
  const [start, end] = [numberOf(value.start), numberOf(value.end)];
  if (start === null || end === null || start <= 0 || end <= 0) return [];
  return [{ kind, start: start - origin, end: end - origin, turn }];
}

const seconds = (milliseconds: JsonValue | undefined): number | null => {
  const value = numberOf(milliseconds);
  return value === null ? null : value / 1000;
};

/**
 * Seconds since 1970 of a written time; null if it is not one. A time without a zone is taken as it is: only
 * differences count.
 */
function clock(value: JsonValue | undefined): number | null {
  if (typeof value !== 'string') return null;
  // Microseconds, which Date leaves out.
  const found = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/.exec(value.trim());
  if (found === null) return null;
  const whole = Date.parse(`${(found[1] ?? '').replace(' ', 'T')}${found[3] ?? 'Z'}`);
  return Number.isNaN(whole) ? null : whole / 1000 + Number(found[2] ?? 0);
}

function timesValue(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
