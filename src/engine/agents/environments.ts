import { randomUUID } from 'node:crypto';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import type { RewardFn, RewardTask } from '../rewards/reward.ts';
import { decodeFunctionCall } from '../tools/schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { Action, Observation } from './trajectory.ts';

export interface EnvStepResult {
  observation: Observation;
  reward: number;
  done: boolean;
  info: JsonObject;
}

type MaybePromise<T> = T | Promise<T>;

/** The world that an agent acts in (`tunix/rl/agentic/environments/`). One environment lives for one trajectory. */
export interface Environment {
  readonly task: JsonObject;
  readonly maxSteps: number;
  /** What the orchestrator knows the trajectory by: group_id, pair_index. */
  readonly extra: JsonObject;
  reset(): MaybePromise<{ observation: Observation; info: JsonObject }>;
  step(action: Action | null, signal?: AbortSignal): MaybePromise<EnvStepResult>;
  close(): MaybePromise<void>;
  /** Asked once, after the last step; added to its reward. */
  finalReward?(): MaybePromise<number>;
}

export interface TaskEnvOptions {
  maxSteps?: number;
  rewardFn?: RewardFn | undefined;
  extra?: JsonObject;
}

/** Counts steps. Meeting the limit ends the episode without a reward of its own; `truncated` in the info tells it from an end by the task. */
export abstract class BaseTaskEnv implements Environment {
  readonly task: JsonObject;
  readonly maxSteps: number;
  readonly extra: JsonObject;
  readonly #rewardFn: RewardFn | undefined;
  #stepCount = 0;

  constructor(task: JsonObject = {}, { maxSteps = 1, rewardFn, extra = {} }: TaskEnvOptions = {}) {
    this.task = task;
    this.maxSteps = maxSteps;
    this.extra = extra;
    this.#rewardFn = rewardFn;
  }

  get stepCount(): number {
    return this.#stepCount;
  }

  async reset(): Promise<{ observation: Observation; info: JsonObject }> {
    this.#stepCount = 0;
    await this.open();
    return { observation: this.task, info: {} };
  }

  async step(action: Action | null, signal?: AbortSignal): Promise<EnvStepResult> {
    this.#stepCount++;
    const result = await this.act(action, signal);
    if (result.done || this.#stepCount < this.maxSteps) return result;
    return { ...result, done: true, info: { ...result.info, truncated: true } };
  }

  async close(): Promise<void> {}

  protected async open(): Promise<void> {}
  protected abstract act(action: Action | null, signal?: AbortSignal): Promise<EnvStepResult>;

  /** The end of an episode, judged by the reward function; 0 without one. */
  protected async judge(answer: string, response: JsonValue, signal?: AbortSignal): Promise<EnvStepResult> {
    const output = await this.#rewardFn?.(this.task as RewardTask, answer, signal);
    return { observation: {}, reward: output?.reward ?? 0, done: true, info: { response } };
  }
}

/** One reply, judged. */
export class TaskEnvironment extends BaseTaskEnv {
  constructor(task: JsonObject, options: Omit<TaskEnvOptions, 'maxSteps'> = {}) {
    super(task, { ...options, maxSteps: 1 });
  }

  protected act(action: Action | null, signal?: AbortSignal): Promise<EnvStepResult> {
    return this.judge(asText(action), action, signal);
  }
}

const asText = (value: JsonValue): string => (typeof value === 'string' ? value : printJson(value));

/**
 * Runs the calls of an action until the agent finishes: with a text, or with a call of `finish`, whose `response` is judged; calls beside
 * it are not run. Whatever is wrong with a call is its output, so that the model can mend it.
 */
export class ToolEnvironment extends BaseTaskEnv {
  readonly #tools: readonly Tool[];
  readonly #instanceId = randomUUID();
  readonly #instances = new Map<Tool, Promise<unknown>>();

  constructor(task: JsonObject, tools: readonly Tool[], { maxSteps = 10, ...options }: TaskEnvOptions = {}) {
    super(task, { ...options, maxSteps });
    this.#tools = tools;
  }

  protected async act(action: Action | null, signal?: AbortSignal): Promise<EnvStepResult> {
    if (typeof action === 'string') return this.judge(action, action, signal);
    const calls = action === null ? [] : Array.isArray(action) ? action : [action];
    const finish = calls.find((call) => functionOf(call)?.name === 'finish');
    if (finish !== undefined) return this.judge(answerOf(finish, action), action, signal);
    const outputs = await Promise.all(calls.map((call) => this.#run(call, signal)));
    return {
      observation: { tool_outputs: Object.fromEntries(outputs) },
      reward: 0,
      done: false,
      info: { response: action },
    };
  }

  /** The call's id and the tool's text; error texts are Tunix's (`ToolOutput`, `ToolManager.run`). */
  async #run(call: JsonValue, signal: AbortSignal | undefined): Promise<[string, string]> {
    const given = isJsonObject(call) ? call.id : undefined;
    const id = typeof given === 'string' && given !== '' ? given : randomUUID();
    const fn = functionOf(call);
    if (fn === null) return [id, 'Error: the call has no function'];
    const tool = this.#tools.find(({ name }) => name === fn.name);
    if (!tool) return [id, `Error: Tool '${fn.name}' not registered.`];
    const { arguments: args, error } = decodeFunctionCall(fn.name, asText(fn.arguments ?? {}));
    if (error !== null) return [id, `Error: ${error}`];
    try {
      // Parallel calls of one tool wait for the same instance.
      if (!this.#instances.has(tool)) this.#instances.set(tool, tool.create(this.#instanceId, this.task));
      await this.#instances.get(tool);
      return [id, (await tool.execute(this.#instanceId, args, {}, { signal })).response.text];
    } catch (cause) {
      signal?.throwIfAborted();
      const { name, message } = cause as Error;
      return [id, `Error: ${name}: ${message}`];
    }
  }

  override async close(): Promise<void> {
    const tools = [...this.#instances.keys()];
    this.#instances.clear();
    await Promise.all(tools.map((tool) => tool.release(this.#instanceId)));
  }
}

function functionOf(call: JsonValue): { name: string; arguments: JsonValue | undefined } | null {
  const fn = isJsonObject(call) ? call.function : undefined;
  return isJsonObject(fn) && typeof fn.name === 'string' ? { name: fn.name, arguments: fn.arguments } : null;
}

/** The arguments of `finish` come as an object, or as its JSON text. */
function answerOf(call: JsonValue, action: JsonValue): string {
  const args = functionOf(call)?.arguments;
  const decoded = typeof args === 'string' ? decodeFunctionCall('finish', args) : null;
  if (decoded?.error) return args as string;
  const holder = decoded?.arguments ?? args;
  return isJsonObject(holder) ? asText(holder.response ?? '') : asText(action);
}
