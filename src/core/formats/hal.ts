import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../json/value.ts';
import type { Times } from '../rollout/times.ts';
import { messagesOf } from './any-message.ts';
import { buildRollout } from './build.ts';
import type { TracedCall } from './call-histories.ts';
import { type Format, NO_TRAINING } from './format.ts';
import { summed } from './langchain.ts';
import { rolloutOfCalls } from './model-calls.ts';
import { callUsage, payloadOf } from './payload.ts';
import { traceSeconds } from './spans.ts';
import { idOf, namedNumbers, numberOf, objectsOf } from './values.ts';

/** The marker of a task that was split off. */
const TASK = 'hal_task';

/**
 * Results of the Holistic Agent Leaderboard: the logged calls of all tasks in one file; by task since its compact form, which keeps the
 * history of the call that had most messages.
 */
export const halResults: Format = {
  name: 'hal',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    rollouts: 'raw_logging_results by task',
    turns: 'inputs and output of each call, or messages',
    score: 'raw_eval_results of the task, else successful_tasks and failed_tasks',
  },
  detects: (record) =>
    (Array.isArray(record.raw_logging_results) || isJsonObject(record.raw_logging_results)) &&
    (isJsonObject(record.config) || record.raw_eval_results !== undefined),
  split(record) {
    const { raw_logging_results: logged, task_prompts: prompts } = record;
    const task = (id: string, more: JsonObject): JsonObject => ({
      [TASK]: id,
      result: resultOf(record, id),
      config: record.config ?? null,
      ...(isJsonObject(prompts) && prompts[id] !== undefined ? { task_prompt: prompts[id] } : {}),
      ...more,
    });
    if (isJsonObject(logged)) return Object.entries(logged).map(([id, held]) => task(id, { compact: objectIn(held) }));
    const byTask = new Map<string, JsonObject[]>();
    for (const call of objectsOf(record.raw_logging_results)) {
      const about = objectIn(call.attributes);
      const id = idOf(call.weave_task_id ?? about.weave_task_id ?? null) ?? '';
      byTask.set(id, [...(byTask.get(id) ?? []), call]);
    }
    return [...byTask].map(([id, calls]) => task(id, { calls }));
  },
  read: (record, context) => halTask.read({ ...record, [TASK]: '', calls: [] }, context),
};

export const halTask: Format = {
  name: 'hal',
  ...NO_TRAINING,
  basis: 'documentation',
  mapping: {
    turns: 'inputs and output of each call, or messages',
    score: 'the result of the task: score, reward or resolved',
  },
  detects: (record) => record[TASK] !== undefined && (Array.isArray(record.calls) || isJsonObject(record.compact)),
  times: ({ compact }) => (isJsonObject(compact) ? timesOf(objectsOf(compact.call_metadata)) : null),
  read(record, context) {
    const { compact, result } = record;
    const held = isJsonObject(result) ? (result.score ?? result.reward ?? result.resolved ?? result.success) : result;
    const score = typeof held === 'boolean' ? Number(held) : numberOf(held);
    const about = {
      format: 'hal',
      record,
      uid: idOf(record[TASK] ?? null),
      score,
      named: isJsonObject(result) ? namedNumbers(result) : null,
    };
    const extras = {
      ...(isJsonObject(result) ? { result } : {}),
      ...(isJsonObject(record.config) ? { config: record.config } : {}),
      ...(record.task_prompt === undefined ? {} : { task_prompt: record.task_prompt }),
    };
    if (isJsonObject(compact)) {
      const { messages, call_metadata: calls, ...rest } = compact;
      const usage = objectsOf(calls).flatMap((call) => callUsage(call.usage) ?? []);
      return buildRollout(
        {
          ...about,
          known: new Set([TASK, 'compact', 'result', 'config', 'task_prompt']),
          messages: messagesOf(objectsOf(messages), '/compact/messages'),
          hasCallsApart: true,
          extras: { ...rest, ...summed(usage), ...extras },
        },
        context,
      );
    }
    const calls = objectsOf(record.calls).map((call, i): TracedCall => {
      const error = idOf(call.exception ?? null);
      return {
        input: payloadOf(call.inputs, `/calls/${i}/inputs`, 'user'),
        output: payloadOf(call.output, `/calls/${i}/output`, 'assistant'),
        start: traceSeconds(call.started_at ?? call.created_timestamp),
        end: traceSeconds(call.ended_at),
        error: error === '' ? null : error,
        agent: null,
      };
    });
    return rolloutOfCalls(
      {
        ...about,
        calls,
        runs: [],
        extras,
        problems: [],
        moments: calls.flatMap(({ start, end }) => [start, end]).filter((one) => one !== null),
      },
      context,
    );
  },
};

/** Benchmarks lay their results out in their own ways; all list the tasks that were solved. */
function resultOf({ raw_eval_results: raw, results }: JsonObject, task: string): JsonValue {
  const held = objectIn(raw);
  const own = held[task] ?? (isJsonObject(held.individual) ? held.individual[task] : undefined);
  if (own !== undefined) return own;
  const lists = isJsonObject(results) ? results : held;
  const isIn = (...keys: string[]): boolean =>
    [lists, held].some((one) => keys.some((key) => Array.isArray(one[key]) && one[key].includes(task)));
  return isIn('successful_tasks', 'resolved_ids') ? 1 : isIn('failed_tasks', 'unresolved_ids') ? 0 : null;
}

/** Each call's time; which turn it made is unknown, since other histories were left out. */
function timesOf(calls: readonly JsonObject[]): Times | null {
  const known = calls.flatMap((call) => {
    const [start, end] = [traceSeconds(call.started_at), traceSeconds(call.ended_at)];
    return start === null || end === null ? [] : [{ start, end }];
  });
  const started = Math.min(...known.map(({ start }) => start));
  return known.length === 0
    ? null
    : {
        started,
        wall: Math.max(...known.map(({ end }) => end)) - started,
        spans: known.map(({ start, end }) => ({
          kind: 'model',
          start: start - started,
          end: end - started,
          turn: null,
        })),
        durations: {},
        doubt: null,
      };
}
