import { withTimeout } from '../../async/timeout.ts';
import type { JsonObject, JsonValue } from '../../json/value.ts';
import { OwnCodeError } from '../../python/own-error.ts';
import { decodeFunctionCall } from '../tools/schema.ts';
import type { Tool, ToolResponse, ToolResult } from '../tools/tool.ts';
import type { Limits } from './limits.ts';
import { truncateToolText } from './truncate.ts';

/** The sample's own arguments to one tool (`extra_info.tools_kwargs` in verl's data sets). */
export interface ToolKwargs {
  create_kwargs?: JsonObject;
  execute_kwargs?: JsonObject;
  calc_reward_kwargs?: JsonObject;
  release_kwargs?: JsonObject;
}

/** A call of the rollout, from its text to its result. Indices count messages from 0, seconds count from the rollout's start. */
export interface CallRecord {
  index: number;
  turn: number;
  id: string;
  name: string;
  /** The decoded object; null where there is none. */
  arguments: JsonValue | null;
  raw: string;
  /** Why the call was not run, or did not succeed; the model reads `result`. */
  error: string | null;
  /** The tool's whole text, before it was cut for the transcript; null while it has not answered. */
  result: string | null;
  result_turn: number | null;
  reward: number | null;
  metrics: JsonValue;
  started: number | null;
  duration: number | null;
}

/** A tool as one rollout holds it. */
export interface ToolInstance {
  tool: Tool;
  kwargs: ToolKwargs;
  /** Why `create` failed; such a tool answers every call with it. */
  failure: string | null;
}

/** What is needed of a call to run it. */
export type PendingCall = Pick<CallRecord, 'name' | 'error'> & { argumentText: string };

export interface CallOutcome {
  /** Decoded; null where there are none. */
  arguments: JsonValue | null;
  response: ToolResponse;
  reward: number | null;
  metrics: JsonValue;
}

/**
 * Runs one call and always has an answer for the model; only the end of the rollout itself (`signal`) rejects.
 * The error texts are those of verl's agent loop, so that its detectors know them.
 */
export async function executeCall(
  call: PendingCall,
  instances: ReadonlyMap<string, ToolInstance>,
  instanceId: string,
  limits: Limits,
  signal: AbortSignal,
): Promise<CallOutcome> {
  const refuse = (text: string, error: string, args: JsonValue | null = null) => ({
    response: { text, error },
    reward: null,
    metrics: null,
    arguments: args,
  });
  const decoded = decodeFunctionCall(call.name, call.argumentText);
  const malformed = call.error ?? decoded.error;
  const instance = instances.get(call.name);
  if (instance === undefined && call.error === null) {
    const names = [...instances.keys()].map((name) => `'${name}'`).join(', ');
    const text = `Unknown function '${call.name}'. Available tools: [${names}]`;
    return refuse(text, 'unknown tool', malformed === null ? decoded.arguments : null);
  }
  if (malformed !== null) return refuse(`Invalid JSON in arguments for '${call.name}': ${malformed}`, malformed);
  try {
    if (instance!.failure !== null) throw new Error(instance!.failure);
    const { tool, kwargs } = instance!;
    const result: ToolResult = await withTimeout(limits.tool_timeout, signal, (inner) =>
      tool.execute(instanceId, decoded.arguments, kwargs.execute_kwargs ?? {}, { signal: inner }),
    );
    return { ...result, arguments: decoded.arguments };
  } catch (error) {
    signal.throwIfAborted();
    const { message } = error as Error;
    // The model reads what the exception says; the record keeps where it came from.
    const cause = (error instanceof OwnCodeError ? error.trace : null) ?? message;
    return refuse(`Error executing tool '${call.name}': ${message}`, cause, decoded.arguments);
  }
}

/** What of a tool's text goes into the transcript. */
export const shownText = (text: string, limits: Limits): string =>
  truncateToolText(text, limits.max_tool_response_length, limits.tool_response_truncate_side);
