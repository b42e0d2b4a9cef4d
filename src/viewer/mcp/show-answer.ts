import type { Printable } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import { bytesOf, ROOM_BYTES, shortened } from './answer.ts';

export interface ShowRequest {
  from: number;
  to: number;
  /** Characters of each turn's text; a longer one shows its head and its tail. */
  chars: number;
}

/** Rollouts of `show --json`, each with its share of the room. */
export function showAnswer(rollouts: readonly JsonObject[], request: ShowRequest): Printable[] {
  const room = Math.floor(ROOM_BYTES / Math.max(1, rollouts.length));
  return rollouts.map((rollout) => {
    for (let { chars } = request; ; chars = Math.floor(chars / 2)) {
      const answer = rolloutAnswer(rollout, { ...request, chars });
      if (bytesOf(answer) <= room) return answer;
      if (chars < LEAST_CHARS) return withFewerTurns(answer, room);
    }
  });
}

const LEAST_CHARS = 80;

type RolloutAnswer = JsonObject & { turns: JsonObject[] };

function rolloutAnswer(rollout: JsonObject, { from, to, chars }: ShowRequest): RolloutAnswer {
  const turns = rowObjects(rollout.turns);
  const { spans: _spans, turns: _turns, contexts: _contexts, extras, raw, unobserved: _unobserved, ...head } = rollout;
  return {
    ...Object.fromEntries(Object.entries(head).map(([key, value]) => [key, shortValue(value)])),
    extras: shortValue(extras ?? {}),
    ...(typeof raw === 'string' ? { raw: shortened(raw, chars) } : {}),
    turn_count: turns.length,
    turns: turns
      .filter(({ index }) => Number(index) >= from && Number(index) <= to)
      .map((turn) => turnAnswer(turn, chars)),
  };
}

function turnAnswer({ index, role, text, trained, reward, tool_calls }: JsonObject, chars: number): JsonObject {
  const calls = rowObjects(tool_calls).map(({ index: call, name, arguments: args, error, result_turn }) => ({
    index: call ?? null,
    name: name ?? null,
    arguments: shortened(typeof args === 'string' ? args : JSON.stringify(args ?? null), chars),
    ...(error === null ? {} : { error: shortened(String(error), 200) }),
    result_turn: result_turn ?? null,
  }));
  return {
    index: index ?? null,
    role: role ?? null,
    trained: trained ?? null,
    ...(reward === null || reward === undefined ? {} : { reward }),
    ...textAnswer(String(text ?? ''), chars),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** `text` whole, or `head` and `tail` with the number of characters between them. */
function textAnswer(text: string, chars: number): JsonObject {
  if (text.length <= chars) return { text };
  const half = Math.max(20, Math.floor(chars / 2));
  return { head: text.slice(0, half), left_out: text.length - 2 * half, tail: text.slice(-half) };
}

/** The first and the last turns that fit. */
function withFewerTurns(rollout: RolloutAnswer, room: number): JsonObject {
  let { turns } = rollout;
  let answer: JsonObject = rollout;
  while (turns.length > 0 && bytesOf(answer) > room) {
    const kept = Math.floor((turns.length * 3) / 4);
    const first = Math.ceil(kept / 2);
    turns = [...turns.slice(0, first), ...turns.slice(turns.length - (kept - first))];
    answer = {
      ...rollout,
      turns,
      turns_left_out: 'between the first and the last of these: from_turn and to_turn ask for them',
    };
  }
  if (bytesOf(answer) <= room) return answer;
  // The rest is an abnormally long head.
  const { locator, score, error } = rollout;
  return {
    locator: shortValue(locator ?? null),
    score: score ?? null,
    error: shortValue(error ?? null),
    too_long: true,
  };
}

const rowObjects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** Values of foreign keys, cut to a useful length. */
function shortValue(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === 'string') return shortened(value, 400);
  if (Array.isArray(value))
    return value.length > 30 || depth > 3
      ? `a list of ${value.length}`
      : value.map((one) => shortValue(one, depth + 1));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  if (depth > 3) return `an object of ${entries.length} keys`;
  const kept = entries
    .slice(0, 30)
    .map(([key, one]): [string, JsonValue] => [shortened(key, 80), shortValue(one, depth + 1)]);
  return Object.fromEntries(entries.length > 30 ? [...kept, ['…', `${entries.length - 30} keys more`]] : kept);
}

/** A row of `ls --json`: what is needed to choose among rollouts. */
export function listedAnswer(row: JsonObject): Printable {
  const {
    locator,
    stream,
    step,
    score,
    turns,
    tool_calls,
    tool_errors,
    ended,
    group,
    findings,
    labels,
    extras,
    error,
  } = row;
  return {
    locator: shortened(String(locator), 600),
    ...(error === undefined ? {} : { error: shortValue(error) }),
    ...Object.fromEntries(
      Object.entries({ stream, step, score, turns, tool_calls, tool_errors, ended, group }).flatMap(([key, value]) =>
        value === undefined || value === null ? [] : [[key, shortValue(value)]],
      ),
    ),
    findings: rowObjects(findings)
      .slice(0, 8)
      .map(({ check, turn, message }) => ({ check, turn, message: shortened(String(message), 160) })),
    ...(Array.isArray(labels) && labels.length > 0 ? { labels: shortValue(labels) } : {}),
    ...(isJsonObject(extras) ? { extras: scalarsOf(extras) } : {}),
  };
}

const scalarsOf = (extras: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(extras)
      .filter(
        ([key, value]) => key.length < 60 && (typeof value !== 'object' || value === null) && String(value).length < 80,
      )
      .slice(0, 12),
  );

/** Other rows (hits, sums, calls). */
export const rowAnswer = (row: JsonObject): Printable => shortValue(row);
