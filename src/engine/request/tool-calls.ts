import { pause, TimedOutError } from '../../core/async/timeout.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import type { Fault } from '../../core/rollout/error-kind.ts';
import { errorMessage, thrownError } from '../../core/text/thrown.ts';
import { type CallClock, withClock } from '../common/call-clock.ts';
import { type Cause, RolloutFault } from '../common/faults.ts';
import type { Picture } from '../common/message.ts';
import { OwnCodeError } from '../python/own-error.ts';
import { decodeFunctionCall } from '../tools/schema.ts';
import type { Tool, ToolResponse, ToolResult, ToolRun } from '../tools/tool.ts';
import type { Limits } from './limits.ts';
import { failedCallText, type LoopRules, unknownToolText } from './rules.ts';
import { truncateToolText } from './truncate.ts';

/** The sample's arguments to one tool (`extra_info.tools_kwargs` in verl's data sets). */
export interface ToolKwargs {
  create_kwargs?: JsonObject;
  execute_kwargs?: JsonObject;
  calc_reward_kwargs?: JsonObject;
  release_kwargs?: JsonObject;
}

/** A call of the rollout, from its text to its result. Indices count messages from 0, seconds count from the rollout's start. */
export type CallRecord = {
  index: number;
  turn: number;
  id: string;
  name: string;
  /** The decoded object, or null. */
  arguments: JsonValue | null;
  raw: string;
  /** Why the call was not run, or failed; the model reads `result`. */
  error: string | null;
  /** Whose fault the error is; null without one. */
  fault: Fault | null;
  /** The tool's whole text, before truncation for the transcript; null until it answers. */
  result: string | null;
  result_turn: number | null;
  /** The pictures that the tool returned besides its text. */
  images?: Picture[];
  reward: number | null;
  metrics: JsonValue;
  started: number | null;
  /** Seconds of running; the wait in the tool's queue is in `waited`. */
  duration: number | null;
  waited: number | null;
};

/** A tool as held by one rollout. */
export interface ToolInstance {
  tool: Tool;
  kwargs: ToolKwargs;
  /** `create` succeeded. */
  isThere: boolean;
}

/** The parts of a call needed to run it. */
export type PendingCall = Pick<CallRecord, 'name' | 'error'> & { argumentText: string };

export interface CallOutcome {
  /** Decoded, or null. */
  arguments: JsonValue | null;
  response: ToolResponse;
  reward: number | null;
  metrics: JsonValue;
  /** Seconds that the call waited for a place. */
  waited: number;
  /** The tool gave no result: the text says why. */
  isRefused: boolean;
}

export interface CallSetting {
  instances: ReadonlyMap<string, ToolInstance>;
  instanceId: string;
  limits: Limits;
  rules: LoopRules;
}

/** A tool's clock, time limit and signal for one call. The signal is made only if the tool asks for it. */
class CallRun implements ToolRun {
  readonly clock: CallClock;
  readonly seconds: number;
  readonly #own: { readonly signal: AbortSignal };

  constructor(own: { readonly signal: AbortSignal }, clock: CallClock, seconds: number) {
    this.#own = own;
    this.clock = clock;
    this.seconds = seconds;
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }
}

/**
 * Runs one call and returns an answer for the model, or throws a RolloutFault if the world failed. The error texts are those of
 * verl's agent loop, so its detectors recognise them.
 */
export async function executeCall(call: PendingCall, setting: CallSetting, signal: AbortSignal): Promise<CallOutcome> {
  const { instances, instanceId, limits, rules } = setting;
  const refuse = (text: string, error: string, fault: Fault, args: JsonValue | null = null): CallOutcome => ({
    response: { text, error, fault },
    reward: rules.failedCallReward,
    metrics: null,
    arguments: args,
    waited: 0,
    isRefused: true,
  });
  const decoded = decodeFunctionCall(call.name, call.argumentText);
  // verl passes any JSON value on, and the tool fails on it.
  const malformed = call.error ?? (rules.version !== null && decoded.value !== undefined ? null : decoded.error);
  const instance = instances.get(call.name);
  if (instance === undefined && call.error === null) {
    const text = unknownToolText(rules, call.name, [...instances.keys()]);
    return refuse(text, 'unknown tool', 'model', malformed === null ? decoded.arguments : null);
  }
  if (malformed !== null)
    return refuse(`Invalid JSON in arguments for '${call.name}': ${malformed}`, malformed, 'model');
  const { tool, kwargs } = instance!;
  let running: Promise<ToolResult> | null = null;
  const parameters = rules.version === null ? decoded.arguments : (decoded.value ?? null);
  try {
    const { value, waited } = await withClock(limits.tool_timeout, signal, async (own, clock): Promise<ToolResult> => {
      const run = new CallRun(own, clock, limits.tool_timeout);
      if (!rules.instancePerCall) {
        running = tool.execute(instanceId, parameters, kwargs.execute_kwargs ?? {}, run);
        return running;
      }
      const { instanceId: one } = await tool.create(undefined, kwargs.create_kwargs ?? {}, run);
      try {
        return await tool.execute(one, parameters, {}, run);
      } finally {
        await tool.release(one, {});
      }
    });
    const { error = null, fault = error === null ? undefined : 'model' } = value.response;
    if (fault === 'world' || fault === 'ours')
      throw new RolloutFault(value.response.cause ?? 'tool_unavailable', `tool '${call.name}': ${error}`);
    const { response, reward, metrics } = value;
    return { response, reward, metrics, arguments: parameters, waited, isRefused: false };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = await lastWordOf(thrown, running, tool.lastWord);
    if (error instanceof RolloutFault) throw error;
    if (error instanceof TimedOutError && tool.silence !== undefined)
      throw new RolloutFault(tool.silence, `tool '${call.name}': no answer: ${error.message}`);
    const message = errorMessage(error);
    const cause = toolCauseOf(thrownError(error));
    if (cause !== null) throw new RolloutFault(cause, `tool '${call.name}': ${message}`);
    // The model reads the exception's message; the record keeps the traceback.
    const detail = (error instanceof OwnCodeError ? error.trace : null) ?? message;
    return refuse(failedCallText(rules, call.name, message), detail, 'tool', decoded.arguments);
  }
}

/** The error of a timed-out call: the tool's own, if the tool can say whose fault it was, else the one that was thrown. */
export async function lastWordOf(timedOut: unknown, running: Promise<unknown> | null, seconds = 0): Promise<unknown> {
  if (!(timedOut instanceof TimedOutError) || running === null || seconds === 0) return timedOut;
  const said = running.then(
    () => timedOut,
    (error: unknown) => (error instanceof OwnCodeError ? error : timedOut),
  );
  return Promise.race([said, pause(seconds * 1000).then(() => timedOut)]);
}

/** A tool that cannot reach its service says nothing about the model; null for the tool's own errors. */
export function toolCauseOf(error: Error): Cause | null {
  if (error instanceof OwnCodeError) return error.fault === 'world' ? 'state_lost' : null;
  return ['ConnectionError', 'ClientTimeoutError', 'SandboxApiError'].includes(error.name) ? 'tool_unavailable' : null;
}

/** The part of a tool's text shown in the transcript. */
export const shownText = (text: string, limits: Limits, rules: LoopRules): string =>
  truncateToolText(text, limits.max_tool_response_length, limits.tool_response_truncate_side, rules);
