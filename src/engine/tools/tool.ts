import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import type { Fault } from '../../core/rollout/error-kind.ts';
import type { CallClock } from '../common/call-clock.ts';
import type { Cause } from '../common/faults.ts';
import type { Picture } from '../common/message.ts';
import { pythonTypeName } from '../common/python.ts';
import type { OpenAIFunctionToolSchema } from './schema.ts';

/** A tool's text for the model. `error` is the cause for the record if the text hides it ("no stdout here"). */
export interface ToolResponse {
  text: string;
  images?: readonly Picture[];
  error?: string;
  /** Whose fault the error is; default: the model's. A fault of the world ends the rollout, under `cause`. */
  fault?: Fault;
  cause?: Cause;
}

export interface ToolResult {
  response: ToolResponse;
  /** The step reward; null if the tool gives none. */
  reward: number | null;
  metrics: JsonValue;
}

export interface ToolRun {
  signal?: AbortSignal | undefined;
  /** The call's time limit; a tool pauses it while the call waits in a queue. */
  clock?: CallClock | undefined;
  /** Seconds that the call may take. */
  seconds?: number | undefined;
}

/**
 * A tool with verl's life cycle (`verl/tools/base_tool.py`): one instance per rollout, under the rollout's id. The engine calls `create`
 * before the first turn, `execute` for each call, and `calcReward` then `release` after the last turn, in every case.
 * `kwargs` are the sample's own `create_kwargs`, `execute_kwargs`, … . Every method may throw; the engine turns that into a tool result.
 */
export interface Tool {
  readonly name: string;
  getOpenAIToolSchema(): OpenAIFunctionToolSchema;
  /** Returns the instance's id, and a response if the tool wants to speak first. */
  create(
    instanceId?: string,
    kwargs?: JsonObject,
    run?: ToolRun,
  ): Promise<{ instanceId: string; response: ToolResponse }>;
  /** Seconds it may take after a call's timeout to report whose fault that was. */
  readonly lastWord?: number;
  /** The fault if a call times out: the tool only waits for a service, and the service did not answer. */
  readonly silence?: Cause;
  /** The id of the session that an instance represents, if it is one. */
  sidOf?(instanceId: string): string | null;
  /** @param parameters what the model wrote: anything but an object only where verl is imitated, which passes it on */
  execute(instanceId: string, parameters: JsonValue, kwargs?: JsonObject, run?: ToolRun): Promise<ToolResult>;
  /** A number, or any other value to record (verl's code interpreter returns a list). */
  calcReward(instanceId: string, kwargs?: JsonObject, run?: ToolRun): Promise<JsonValue>;
  release(instanceId: string, kwargs?: JsonObject): Promise<void>;
}

/** A tool with a state per instance. */
export abstract class StatefulTool<State> implements Tool {
  readonly #schema: OpenAIFunctionToolSchema;
  readonly #instances = new Map<string, State>();

  constructor(schema: OpenAIFunctionToolSchema) {
    this.#schema = schema;
  }

  get name(): string {
    return this.#schema.function.name;
  }

  getOpenAIToolSchema(): OpenAIFunctionToolSchema {
    return this.#schema;
  }

  /** Number of live instances; 0 once every rollout has released its instance. */
  get instanceCount(): number {
    return this.#instances.size;
  }

  protected abstract start(kwargs: JsonObject, run: ToolRun, instanceId: string): State | Promise<State>;
  protected abstract run(state: State, parameters: JsonObject, kwargs: JsonObject, run: ToolRun): Promise<ToolResult>;
  /** verl's BaseTool returns 0.0, a score that no tool gave. */
  protected reward(_state: State, _kwargs: JsonObject, _run: ToolRun): JsonValue | Promise<JsonValue> {
    return null;
  }
  protected end(_state: State, _kwargs: JsonObject): void | Promise<void> {}

  async create(instanceId: string = randomUUID(), kwargs: JsonObject = {}, run: ToolRun = {}) {
    this.#instances.set(instanceId, await this.start(kwargs, run, instanceId));
    return { instanceId, response: { text: '' } };
  }

  async execute(instanceId: string, parameters: JsonValue, kwargs: JsonObject = {}, run: ToolRun = {}) {
    // Python's message, since verl's tools fail on anything but an object.
    if (!isJsonObject(parameters)) throw new TypeError(`'${pythonTypeName(parameters)}' object has no attribute 'get'`);
    return this.run(this.#state(instanceId), parameters, kwargs, run);
  }

  async calcReward(instanceId: string, kwargs: JsonObject = {}, run: ToolRun = {}) {
    return this.reward(this.#state(instanceId), kwargs, run);
  }

  async release(instanceId: string, kwargs: JsonObject = {}) {
    const state = this.#instances.get(instanceId);
    if (state === undefined) return;
    this.#instances.delete(instanceId);
    await this.end(state, kwargs);
  }

  /** Undefined once it is released. */
  protected stateOf(instanceId: string): State | undefined {
    return this.#instances.get(instanceId);
  }

  #state(instanceId: string): State {
    const state = this.#instances.get(instanceId);
    if (state === undefined) throw new Error(`${this.name} has no instance '${instanceId}': create it first`);
    return state;
  }
}
