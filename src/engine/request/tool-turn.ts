import { itemAt } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Message } from '../common/message.ts';
import type { Limits } from './limits.ts';
import { failedCallText, type LoopRules } from './rules.ts';
import { type CallRecord, shownText } from './tool-calls.ts';
import type { ToolInstances } from './tool-instances.ts';

export interface ToolTurn {
  tools: ToolInstances;
  limits: Limits;
  rules: LoopRules;
  /** Seconds since the rollout's start. */
  now: () => number;
  warn: (message: string) => void;
  onResult: (call: CallRecord) => void;
}

/** Runs the calls of one turn concurrently, and notes each outcome. @returns the calls that ran, and their answers in order */
export async function runCalls(
  calls: CallRecord[],
  { tool_calls: written = [] }: Message,
  turn: ToolTurn,
  signal: AbortSignal,
): Promise<{ run: CallRecord[]; answers: Message[] }> {
  const { limits, rules } = turn;
  const limit = limits.max_parallel_calls;
  const run = rules.answersEveryCall || limit === null ? calls : calls.slice(0, limit);
  const refused = await Promise.all(
    run.map(async (call, position) => {
      call.started = turn.now();
      const isOver = limit !== null && position >= limit;
      if (isOver) refuseCall(call, `only the first ${limit} calls of a turn are run`, rules);
      const isRefused = isOver || (await execute(call, written[position]?.function.arguments ?? '', turn, signal));
      turn.onResult(call);
      return isRefused;
    }),
  );
  signal.throwIfAborted();
  const textOf = ({ result }: CallRecord, isWhole: boolean) =>
    isWhole ? (result ?? '') : shownText(result ?? '', limits, rules);
  return {
    run,
    answers: run.map((call, at) => toolAnswer(call, textOf(call, itemAt(refused, at) && !rules.cutsErrors))),
  };
}

function refuseCall(call: CallRecord, error: string, rules: LoopRules): void {
  call.error = error;
  call.fault = 'model';
  call.result = failedCallText(rules, call.name, error);
  call.duration = 0;
}

/** @returns whether the tool gave no result */
async function execute(
  call: CallRecord,
  argumentText: string,
  { tools, now, warn }: ToolTurn,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const outcome = await tools.execute({ name: call.name, error: call.error, argumentText }, signal);
    call.arguments = outcome.arguments;
    call.result = outcome.response.text;
    call.error = outcome.response.error ?? null;
    call.fault = call.error === null ? null : (outcome.response.fault ?? 'model');
    if (outcome.response.images?.length) call.images = [...outcome.response.images];
    call.reward = outcome.reward;
    call.metrics = outcome.metrics;
    call.waited = outcome.waited;
    if (call.fault === 'tool') warn(`tool '${call.name}' raised an exception: ${call.error}`);
    return outcome.isRefused;
  } catch (error) {
    call.error = errorMessage(error);
    call.fault = 'world';
    throw error;
  } finally {
    call.duration = now() - call.started! - (call.waited ?? 0);
  }
}

function toolAnswer({ id, name, images }: CallRecord, text: string): Message {
  const content = images?.length
    ? [...images.map(({ url }) => ({ type: 'image_url', image_url: { url } })), { type: 'text', text }]
    : text;
  return { role: 'tool', tool_call_id: id, name, content };
}
