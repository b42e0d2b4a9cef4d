import { randomUUID } from 'node:crypto';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue, stringIn } from '../../core/json/value.ts';
import { pythonText } from '../common/python-text.ts';
import type { ToolKwargs } from '../request/tool-calls.ts';
import { type RewardFn, type RewardTask, rewardNumber } from '../rewards/reward.ts';
import { decodeFunctionCall } from '../tools/schema.ts';
import { type ManagerOptions, ToolManager, type ToolMap } from './tool-manager.ts';
import type { AgentAction, Observation } from './trajectory.ts';

export interface EnvStepResult {
  observation: Observation;
  reward: number;
  done: boolean;
  info: JsonObject;
}

type MaybePromise<T> = T | Promise<T>;

export interface EnvResetResult {
  observation: Observation;
  info: JsonObject;
}

/** Accepts Python's tuples in place of the objects. */
export type ResetAnswer = EnvResetResult | readonly [observation: Observation, info?: JsonObject];
export type StepAnswer =
  | EnvStepResult
  | readonly [observation: Observation, reward: number, done: boolean, info?: JsonObject];

const isTuple = (answer: ResetAnswer | StepAnswer): answer is Extract<ResetAnswer | StepAnswer, readonly unknown[]> =>
  Array.isArray(answer);

/** @throws TypeError for an answer that is neither */
export function resetResult(answer: ResetAnswer): EnvResetResult {
  if (isTuple(answer)) return { observation: answer[0], info: answer[1] ?? {} };
  if (typeof answer !== 'object' || answer === null || !('observation' in answer))
    throw new TypeError('env.reset() gave neither { observation, info } nor [observation, info]');
  return { observation: answer.observation, info: answer.info ?? {} };
}

/** @throws TypeError for an answer that is neither, or whose reward is not a number */
export function stepResult(answer: StepAnswer): EnvStepResult {
  const made = isTuple(answer)
    ? { observation: answer[0], reward: answer[1], done: answer[2], info: answer[3] }
    : answer;
  if (typeof made !== 'object' || made === null || typeof made.reward !== 'number' || typeof made.done !== 'boolean')
    throw new TypeError(
      'env.step() gave neither { observation, reward, done, info } nor [observation, reward, done, info], with a number and a boolean',
    );
  return { observation: made.observation, reward: made.reward, done: made.done, info: made.info ?? {} };
}

/** The world that an agent acts in (`tunix/rl/agentic/environments/`). One environment lives for one trajectory. */
export interface Environment {
  readonly task: JsonObject;
  readonly maxSteps: number;
  /** The orchestrator's keys of the trajectory: group_id, pair_index. */
  readonly extra: JsonObject;
  reset(signal?: AbortSignal): MaybePromise<ResetAnswer>;
  step(action: AgentAction | null, signal?: AbortSignal): MaybePromise<StepAnswer>;
  close(): MaybePromise<void>;
  /** Called once, after the last step; added to its reward. */
  finalReward?(): MaybePromise<number>;
}

export interface TaskEnvOptions {
  maxSteps?: number;
  /** Without it every reward is 0, with one warning. */
  rewardFn?: RewardFn | undefined;
  extra?: JsonObject;
}

export interface ToolEnvOptions extends TaskEnvOptions, Pick<ManagerOptions, 'toolsKwargs' | 'limits'> {}

/** @throws TypeError naming the keys that no option has: a misspelt reward function would otherwise make every reward 0 */
export function checkOptionNames(given: object, known: readonly string[], form: string): void {
  const other = Object.keys(given).filter((key) => !known.includes(key));
  if (other.length > 0) throw new TypeError(`no option is named ${other.join(', ')}: ${form}`);
}

/** Base class for your own environments. `reset` and `step` may also answer as Python's do: [observation, info], [observation, reward, done, info]. */
export abstract class BaseEnv {
  readonly task: JsonObject = {};
  readonly maxSteps: number = 10;
  readonly extra: JsonObject = {};

  abstract reset(signal?: AbortSignal): MaybePromise<ResetAnswer>;
  abstract step(action: AgentAction | null, signal?: AbortSignal): MaybePromise<StepAnswer>;

  /** Creates one from a dictionary. @throws TypeError if the class does not implement it */
  static fromDict(_args: EnvArgs): unknown {
    throw new TypeError('fromDict(args) is not there: write a static method that returns an environment');
  }

  async close(): Promise<void> {}
}

/** Counts steps. Reaching the limit ends the episode without a reward; `truncated` in the info distinguishes this from an end by the task. */
export abstract class BaseTaskEnv extends BaseEnv implements Environment {
  override readonly task: JsonObject;
  override readonly maxSteps: number;
  override readonly extra: JsonObject;
  readonly #rewardFn: RewardFn | undefined;
  #stepCount = 0;

  constructor(task: JsonObject = {}, { maxSteps = 1, rewardFn, extra = {} }: TaskEnvOptions = {}) {
    super();
    if (rewardFn !== undefined && typeof rewardFn !== 'function')
      throw new TypeError(`${new.target.name}: rewardFn is not a function (task, action) => RewardOutput`);
    if (!Number.isInteger(maxSteps) || maxSteps < 0)
      throw new TypeError(`${new.target.name}: maxSteps is ${String(maxSteps)}, not a whole number`);
    this.task = task;
    this.maxSteps = maxSteps;
    this.extra = extra;
    this.#rewardFn = rewardFn;
  }

  get stepCount(): number {
    return this.#stepCount;
  }

  async reset(signal?: AbortSignal): Promise<EnvResetResult> {
    this.#stepCount = 0;
    await this.open(signal);
    return { observation: this.task, info: {} };
  }

  async step(action: AgentAction | null, signal?: AbortSignal): Promise<EnvStepResult> {
    this.#stepCount++;
    const result = await this.act(action, signal);
    if (result.done || this.#stepCount < this.maxSteps) return result;
    return { ...result, done: true, info: { ...result.info, truncated: true } };
  }

  protected async open(_signal?: AbortSignal): Promise<void> {}
  protected abstract act(action: AgentAction | null, signal?: AbortSignal): Promise<EnvStepResult>;

  /** The task as passed to the reward function. */
  protected async judgedTask(_signal?: AbortSignal): Promise<RewardTask> {
    return this.task;
  }

  /** The end of an episode, judged by the reward function; 0 without one. */
  protected async judge(answer: string, response: JsonValue, signal?: AbortSignal): Promise<EnvStepResult> {
    if (this.#rewardFn === undefined) warnOfNoReward(this.constructor.name);
    const output = await this.#rewardFn?.(await this.judgedTask(signal), answer, signal);
    const reward = this.#rewardFn === undefined ? 0 : rewardNumber(output);
    return { observation: {}, reward, done: true, info: { response } };
  }
}

let isWarned = false;
function warnOfNoReward(name: string): void {
  if (!isWarned) process.emitWarning(`${name} has no reward function: every reward is 0`, 'RolloutViewerWarning');
  isWarned = true;
}

/** An environment of a single, judged reply. */
export class TaskEnvironment extends BaseTaskEnv {
  constructor(task: JsonObject, options: Omit<TaskEnvOptions, 'maxSteps'> = {}) {
    super(task, { ...options, maxSteps: 1 });
  }

  /** Created from one dictionary: the task's keys plus `reward_fn` and `group_id`. */
  static override fromDict({ reward_fn, group_id, ...task }: EnvArgs): TaskEnvironment {
    return new TaskEnvironment(task as JsonObject, {
      rewardFn: reward_fn as RewardFn | undefined,
      extra: { group_id: (group_id as JsonValue | undefined) ?? null },
    });
  }

  protected act(action: AgentAction | null, signal?: AbortSignal): Promise<EnvStepResult> {
    return this.judge(jsonText(action), action, signal);
  }
}

const TOOL_ENV_FORMS =
  'new ToolEnvironment(task, toolMap, { rewardFn, maxSteps }), or (task, toolMap, rewardFn, maxSteps)';

/** The dictionary of `from_dict`: the task's keys, and a few that are not part of the task. */
export type EnvArgs = Readonly<Record<string, unknown>>;

const jsonText = (value: JsonValue): string => (typeof value === 'string' ? value : pythonText(value));

/**
 * Runs the calls of an action until the agent finishes: with a text, or with a call of `finish`, whose `response` is judged; other calls beside
 * it are not run. Any error in a call becomes its output, so the model can correct it.
 */
export class ToolEnvironment extends BaseTaskEnv {
  readonly toolManager: ToolManager;

  /** A step that reaches the limit is judged by its action, as in Tunix's design; Tunix itself gives it nothing. */
  readonly #isJudgedAtLimit: boolean;

  /** `new ToolEnvironment(task, toolMap, { rewardFn, maxSteps })`, or positional: `new ToolEnvironment(task, toolMap, rewardFn, maxSteps)`. */
  constructor(task: JsonObject, toolMap: ToolMap, options?: ToolEnvOptions);
  constructor(task: JsonObject, toolMap: ToolMap, rewardFn: RewardFn | null | undefined, maxSteps?: number);
  constructor(
    task: JsonObject,
    toolMap: ToolMap,
    given: ToolEnvOptions | RewardFn | null | undefined = {},
    steps?: number,
  ) {
    const isByPlace = typeof given === 'function' || given === null || steps !== undefined;
    if (typeof given !== 'function' && typeof given !== 'object') throw new TypeError(TOOL_ENV_FORMS);
    if (typeof given === 'object' && given !== null)
      checkOptionNames(given, ['rewardFn', 'maxSteps', 'extra', 'toolsKwargs', 'limits'], TOOL_ENV_FORMS);
    const named: ToolEnvOptions = typeof given === 'function' ? { rewardFn: given } : (given ?? {});
    const { maxSteps = steps ?? 10, toolsKwargs, limits, ...options } = named;
    super(task, { ...options, maxSteps });
    this.#isJudgedAtLimit = isByPlace;
    this.toolManager = new ToolManager(toolMap, { toolsKwargs: toolsKwargs ?? toolsKwargsOf(task), limits });
  }

  protected override async open(signal?: AbortSignal): Promise<void> {
    await this.toolManager.open(signal);
  }

  protected override async judgedTask(signal?: AbortSignal): Promise<RewardTask> {
    const scores = await this.toolManager.rewards(signal);
    const task = await super.judgedTask();
    return Object.keys(scores).length === 0 ? task : { ...task, reward_scores: scores };
  }

  /** Created from one dictionary: the task's keys plus `tool_map`, `reward_fn` and `max_steps`. */
  static override fromDict({ tool_map, reward_fn, max_steps = 10, ...task }: EnvArgs): ToolEnvironment {
    return new ToolEnvironment(task as JsonObject, tool_map as ToolMap, {
      rewardFn: reward_fn as RewardFn | undefined,
      maxSteps: max_steps as number,
    });
  }

  protected async act(action: AgentAction | null, signal?: AbortSignal): Promise<EnvStepResult> {
    if (typeof action === 'string') return this.judge(action, action, signal);
    const calls = action === null ? [] : Array.isArray(action) ? action : [action];
    if (calls.some((call) => calledFunction(call)?.name === 'finish'))
      return this.judge(ToolEnvironment.answerOf(action), action, signal);
    if (this.#isJudgedAtLimit && this.stepCount >= this.maxSteps) {
      const judged = await this.judge(ToolEnvironment.answerOf(action), action, signal);
      return { ...judged, info: { ...judged.info, truncated: true } };
    }
    const outputs = await Promise.all(calls.map((call) => this.#run(call, signal)));
    return {
      observation: { tool_outputs: Object.fromEntries(outputs) },
      reward: 0,
      done: false,
      info: { response: calls },
    };
  }

  /** The call's id and the tool's text; if the call could not be run, the text says why. */
  async #run(call: JsonValue, signal?: AbortSignal): Promise<[string, string]> {
    const given = isJsonObject(call) ? call.id : undefined;
    const id = typeof given === 'string' && given !== '' ? given : randomUUID();
    const fn = calledFunction(call);
    if (fn === null) return [id, 'Error: the call has no function'];
    const { arguments: args, error } = decodeFunctionCall(fn.name, quotedArgument(fn.arguments));
    if (error !== null) return [id, `Error: ${error}`];
    return [id, String(await this.toolManager.call(fn.name, args, signal))];
  }

  /** The text that an action is judged by: the action itself, or the response of `finish`, whose arguments are an object or its JSON text. */
  static answerOf(action: JsonValue): string {
    const calls = Array.isArray(action) ? action : [action];
    const finish = calls.find((call) => calledFunction(call)?.name === 'finish');
    const args = finish === undefined ? undefined : calledFunction(finish)?.arguments;
    if (finish === undefined) return jsonText(action);
    const decoded = typeof args === 'string' ? decodeFunctionCall('finish', args) : null;
    if (decoded?.error) return stringIn(args);
    const holder = decoded?.arguments ?? args ?? {};
    return isJsonObject(holder) ? jsonText(holder.response ?? '') : jsonText(action);
  }

  override async close(): Promise<void> {
    await this.toolManager.release();
  }
}

/** verl's row has them in `extra_info`; its keys may also be in the task itself. */
function toolsKwargsOf(task: JsonObject): Record<string, ToolKwargs> {
  const { tools_kwargs: own, extra_info: extra } = task;
  const given = own ?? (isJsonObject(extra) ? extra.tools_kwargs : undefined);
  return isJsonObject(given) ? (given as Record<string, ToolKwargs>) : {};
}

const quotedArgument = (args: JsonValue | undefined): string =>
  typeof args === 'string' ? args : printJson(args === undefined ? {} : args);

function calledFunction(call: JsonValue): { name: string; arguments: JsonValue | undefined } | null {
  const fn = isJsonObject(call) ? call.function : undefined;
  return isJsonObject(fn) && typeof fn.name === 'string' ? { name: fn.name, arguments: fn.arguments } : null;
}
