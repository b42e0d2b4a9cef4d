import { itemAt, numberInAt } from '../lists/at.ts';

/** Kinds of time. model: generating; queue: waiting for a place; setup: before the first turn; score: after the last one. */
export const TIME_KINDS = ['model', 'tool', 'queue', 'score', 'setup'] as const;
export type TimeKind = (typeof TIME_KINDS)[number];

/** A recorded stretch of time, in seconds from the rollout's start. */
export interface TimeSpan {
  kind: TimeKind;
  start: number;
  end: number;
  /** The turn that it made; null if unknown. */
  turn: number | null;
}

/** Start and duration, as recorded; nothing is derived. */
export interface Times {
  /** Seconds since 1970; null if only durations were recorded. */
  started: number | null;
  /** From the start to the last recorded moment, in seconds. */
  wall: number;
  spans: TimeSpan[];
  /** Durations by kind without a position on the clock, in seconds, in addition to the spans. */
  durations: Partial<Record<TimeKind, number>>;
  /** From the first model request to its first token, in seconds; absent if not recorded. */
  firstToken?: number;
  /** Why a recorded value is left out; null if none is. */
  doubt: string | null;
}

/** The precedence of kinds when several stretches overlap; the kind that was waited for longest comes last. */
const ORDER: readonly TimeKind[] = ['model', 'tool', 'score', 'setup', 'queue'];

/** A stretch of the clock with one kind, or null: a gap that nothing recorded explains. */
export interface Stretch {
  kind: TimeKind | null;
  start: number;
  end: number;
}

/** The wall time split into consecutive stretches, each of one kind: parallel calls count once. */
export function stretchesOf({ wall, spans }: Times): Stretch[] {
  const borders = new Set([0, wall]);
  for (const { start, end } of spans) for (const at of [start, end]) if (at > 0 && at < wall) borders.add(at);
  const cuts = [...borders].sort((a, b) => a - b);
  // Spans sorted by start, and those open at a border: each is visited once per border inside it.
  const waiting = [...spans].sort((a, b) => a.start - b.start);
  let next = 0;
  let open: TimeSpan[] = [];
  const stretches: Stretch[] = [];
  for (let i = 0; i + 1 < cuts.length; i++) {
    const [start, end] = [numberInAt(cuts, i), numberInAt(cuts, i + 1)];
    while (next < waiting.length && itemAt(waiting, next).start <= start) open.push(itemAt(waiting, next++));
    open = open.filter((span) => span.end > start);
    const kind = ORDER.find((one) => open.some((span) => span.kind === one)) ?? null;
    const last = stretches.at(-1);
    if (last?.kind === kind) last.end = end;
    else stretches.push({ kind, start, end });
  }
  return stretches;
}

/** Seconds of wall time by kind, and unexplained seconds; together they are `wall`. */
export function timeByKind(times: Times): Record<TimeKind | 'blank', number> {
  const sums = { model: 0, tool: 0, queue: 0, score: 0, setup: 0, blank: 0 };
  for (const { kind, start, end } of stretchesOf(times)) sums[kind ?? 'blank'] += end - start;
  for (const kind of TIME_KINDS) {
    const more = Math.min(times.durations[kind] ?? 0, sums.blank);
    sums[kind] += more;
    sums.blank -= more;
  }
  return sums;
}

/** Half a percent and a millisecond: rounding errors. */
const isOver = (value: number, limit: number): boolean => value > limit * 1.005 + 1e-3;

/**
 * Consistent times. Stretches that run backwards, or extend beyond a recorded wall time, are left out, and `doubt` says
 * so: neither another unit nor another machine's clock is guessed.
 * @param wall as recorded; null if only the last end is known
 */
export function timesOf(
  started: number | null,
  wall: number | null,
  spans: readonly TimeSpan[],
  durations: Times['durations'] = {},
): Times | null {
  const finite = spans.filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end));
  const forward = finite.filter(({ start, end }) => end >= start);
  const begun = forward.filter(({ start }) => start >= -1e-3);
  const fitting = wall === null ? begun : begun.filter(({ end }) => !isOver(end, wall));
  const whole = wall ?? fitting.reduce((last, { end }) => Math.max(last, end), 0);
  const known = TIME_KINDS.flatMap((kind): [TimeKind, number][] => {
    const seconds = durations[kind];
    return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0 ? [[kind, seconds]] : [];
  });
  const kept = wall === null ? known : known.filter(([, seconds]) => !isOver(seconds, whole));
  if (!(whole > 0) && fitting.length === 0) return null;
  const doubts: string[] = [];
  if (forward.length < spans.length) doubts.push(`${spans.length - forward.length} times run backwards`);
  if (begun.length < forward.length)
    doubts.push(`${forward.length - begun.length} begin before the rollout does: another clock`);
  if (fitting.length < begun.length || kept.length < known.length)
    doubts.push(
      `${begun.length - fitting.length + known.length - kept.length} are longer than the whole (${Number(whole.toPrecision(4))} s): another unit, or another clock`,
    );
  return {
    started,
    wall: whole,
    spans: fitting,
    durations: Object.fromEntries(kept),
    doubt: doubts.length === 0 ? null : `${doubts.join('; ')}; left out`,
  };
}
