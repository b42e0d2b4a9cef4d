import { isJsonObject, type JsonObject } from '../json/value.ts';
import type { Format } from './format.ts';
import { rolloutOfCalls, type TracedCall } from './model-calls.ts';
import { payloadOf } from './payload.ts';
import { traceSeconds } from './spans.ts';
import { idOf, namedNumbers, numberOf, objectsOf } from './values.ts';

/** The marker of a task that was split off. */
const TASK = 'hal_task';

/** Results of the Holistic Agent Leaderboard: the logged calls of all tasks in one file. */
export const halResults: Format = {
  name: 'hal',
  isStepless: true,
  isUntrained: true,
  quickKeys: null,
  basis: 'documentation',
  mapping: {
    rollouts: 'raw_logging_results by weave_task_id',
    turns: 'inputs and output of each call',
    score: 'raw_eval_results of the task',
  },
  detects: (record) =>
    Array.isArray(record.raw_logging_results) && (isJsonObject(record.config) || record.raw_eval_results !== undefined),
  split(record) {
    const byTask = new Map<string, JsonObject[]>();
    for (const call of objectsOf(record.raw_logging_results)) {
      const about = isJsonObject(call.attributes) ? call.attributes : {};
      const task = idOf(call.weave_task_id ?? about.weave_task_id ?? null) ?? '';
      byTask.set(task, [...(byTask.get(task) ?? []), call]);
    }
    const results = isJsonObject(record.raw_eval_results) ? record.raw_eval_results : {};
    return [...byTask].map(([task, calls]) => ({
      [TASK]: task,
      calls,
      result: results[task] ?? null,
      config: record.config ?? null,
    }));
  },
  read: (record, context) => halTask.read({ ...record, [TASK]: '', calls: [] }, context),
};

export const halTask: Format = {
  name: 'hal',
  isStepless: true,
  isUntrained: true,
  quickKeys: null,
  basis: 'documentation',
  mapping: { turns: 'inputs and output of each call', score: 'the result of the task: score, reward or resolved' },
  detects: (record) => record[TASK] !== undefined && Array.isArray(record.calls),
  read(record, context) {
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
    const { result } = record;
    const held = isJsonObject(result) ? (result.score ?? result.reward ?? result.resolved ?? result.success) : result;
    const score = typeof held === 'boolean' ? Number(held) : numberOf(held);
    return rolloutOfCalls(
      {
        format: 'hal',
        record,
        calls,
        runs: [],
        uid: idOf(record[TASK] ?? null),
        score,
        named: isJsonObject(result) ? namedNumbers(result) : null,
        extras: {
          ...(isJsonObject(result) ? { result } : {}),
          ...(isJsonObject(record.config) ? { config: record.config } : {}),
        },
        problems: [],
        moments: calls.flatMap(({ start, end }) => [start, end]).filter((one) => one !== null),
      },
      context,
    );
  },
};
