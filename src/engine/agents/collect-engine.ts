import { pool } from '../../core/async/pool.ts';
import { TimedOutError, withTimeout } from '../../core/async/timeout.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { numberInAt } from '../../core/lists/at.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Message } from '../common/message.ts';
import { monteCarloReturns } from '../common/returns.ts';
import type { TrajectoryStatus } from '../common/status.ts';
import { type RewardOutput, rewardNumber } from '../rewards/reward.ts';
import type { Agent } from './agents.ts';
import { checkOptionNames, type Environment, type EnvStepResult, resetResult, stepResult } from './environments.ts';
import type { TokenizeMessages } from './message-tokens.ts';
import { AgentStep, Trajectory } from './trajectory.ts';
import { conversationView, type StepView, stepViews, type TokenView, tokenView } from './views.ts';

/** One reply of the model; ids and log probabilities if the sampler provides them. */
export interface ModelOutput {
  text: string;
  tokens?: number[];
  logprobs?: number[] | null;
  /** The sampler's prompt ids, which take precedence over ours. */
  promptTokens?: number[];
}

export type ModelCall = (
  messages: Message[],
  context: { env: Environment; maxGenerationSteps: number | null; signal: AbortSignal },
) => ModelOutput | string | Promise<ModelOutput | string>;

export const COLLECT_MODES = ['Trajectory', 'Steps', 'Conversation', 'Token'] as const;
export type CollectMode = (typeof COLLECT_MODES)[number];
export interface Collected {
  Trajectory: Trajectory;
  Steps: StepView[];
  Conversation: Message[];
  Token: TokenView;
}

/** The statuses that overlongFilter acts on. */
export const OVERLONG_STATUSES: readonly TrajectoryStatus[] = [
  'MAX_STEPS_REACHED',
  'MAX_CONTEXT_LIMIT_REACHED',
  'TIMEOUT',
  'ENV_TIMEOUT',
];

/** A number, or a RewardOutput as reward functions return it. */
export type FinalRewardFn = (task: JsonValue, answer: string) => number | RewardOutput | Promise<number | RewardOutput>;

export interface CollectOptions {
  modelCall: ModelCall;
  /** Called once, after the last step, instead of the environment's final reward; added to that step's reward. */
  finalRewardFn?: FinalRewardFn | undefined;
  /** Overrides the environment's limit. */
  maxSteps?: number | undefined;
  /** Discount of the Monte Carlo returns. */
  gamma?: number;
  /** Tokens of replies and observations together; null: no limit. */
  maxResponseLength?: number | null;
  /** Seconds for all steps; the reset is not counted. */
  timeout?: number;
  /** Computes the messages' ids, for mode Token. */
  tokenize?: TokenizeMessages | undefined;
  filterStatuses?: readonly TrajectoryStatus[];
  /** A trajectory that ends in one of filterStatuses gets no final reward, and is fully masked out of training. */
  overlongFilter?: boolean;
  signal?: AbortSignal | undefined;
  /** Seconds; for tests. */
  clock?: () => number;
}

const CLOSE_SECONDS = 150;
/** For an environment without its own limit. */
const MAX_STEPS = 10;

/** Fills in keys that a user's object lacks. */
function filledIn<T extends object>(own: T, empty: T): T {
  return Object.assign(own, { ...empty, ...own });
}

const OPTIONS = [
  'modelCall',
  'finalRewardFn',
  'maxSteps',
  'gamma',
  'maxResponseLength',
  'timeout',
  'tokenize',
  'filterStatuses',
  'overlongFilter',
  'signal',
  'clock',
] as const satisfies readonly (keyof CollectOptions)[];

const FORMS =
  'new TrajectoryCollectEngine(agent, env, { modelCall, finalRewardFn, maxSteps, gamma, timeout }), or (agent, env, modelCall, finalRewardFn, maxSteps, gamma, timeout)';

/** @throws TypeError naming what is missing */
function checkParts(agent: Agent, env: Environment, options: CollectOptions): void {
  const missing = (what: string, part: object | null | undefined, names: readonly string[]): string[] =>
    names
      .filter((name) => typeof (part as Record<string, unknown> | null | undefined)?.[name] !== 'function')
      .map((name) => `${what}.${name}()`);
  const absent = [
    ...missing('agent', agent, ['updateFromEnv', 'updateFromModel', 'reset']),
    ...missing('env', env, ['reset', 'step']),
    ...missing('options', options, ['modelCall']),
  ];
  if (absent.length > 0) throw new TypeError(`${absent.join(', ')} is missing: ${FORMS}`);
  checkOptionNames(options, OPTIONS, FORMS);
}

/**
 * Plays one agent in one environment: Tunix's TrajectoryCollectEngine (`tunix/rl/agentic/trajectory/trajectory_collect_engine.py`).
 * Differences: the mode is checked first, the environment is always closed, an exception makes the status FAILED, and a model that
 * is too slow is a TIMEOUT, not an ENV_TIMEOUT.
 */
export class TrajectoryCollectEngine {
  readonly #agent: Agent;
  readonly #env: Environment;
  readonly #options: CollectOptions;
  readonly #clock: () => number;
  /** Positional arguments: the form in Tunix's design, in which `collect()` returns the trajectory. */
  readonly #isByPlace: boolean;
  #startedAt = 0;
  #responseTokens = 0;

  /**
   * `new TrajectoryCollectEngine(agent, env, { modelCall, … })`, or positional as in Tunix's design: `(agent, env, modelCall, finalRewardFn, maxSteps = 10,
   * gamma = 1, timeout = 30)`; then `collect()` returns the trajectory. @throws TypeError naming both forms
   */
  constructor(agent: Agent, env: Environment, options: CollectOptions);
  constructor(
    agent: Agent,
    env: Environment,
    modelCall: ModelCall,
    finalRewardFn?: FinalRewardFn | null,
    maxSteps?: number,
    gamma?: number,
    timeout?: number,
  );
  constructor(
    agent: Agent,
    env: Environment,
    given: CollectOptions | ModelCall,
    finalRewardFn?: FinalRewardFn | null,
    maxSteps = 10,
    gamma = 1,
    timeout = 30,
  ) {
    this.#isByPlace = typeof given === 'function';
    const options =
      typeof given === 'function'
        ? { modelCall: given, finalRewardFn: finalRewardFn ?? undefined, maxSteps, gamma, timeout }
        : given;
    checkParts(agent, env, options);
    this.#agent = agent;
    this.#env = env;
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now() / 1000);
  }

  /** Never rejects for a failure of the model or the environment; see the trajectory's status and error. @throws RangeError unknown mode. */
  async collect<Mode extends CollectMode = 'Conversation'>(
    mode: Mode = (this.#isByPlace ? 'Trajectory' : 'Conversation') as Mode,
  ): Promise<Collected[Mode]> {
    if (!COLLECT_MODES.includes(mode))
      throw new RangeError(`unknown mode '${mode}'; known: ${COLLECT_MODES.join(', ')}`);
    let trajectory = this.#agent.trajectory;
    try {
      await this.#reset();
      trajectory = filledIn(this.#agent.trajectory, new Trajectory());
      await this.#play(trajectory);
      if (!this.#isMaskedOut(trajectory)) await this.#addFinalReward(trajectory);
    } catch (error) {
      trajectory = filledIn(this.#agent.trajectory, new Trajectory());
      trajectory.status = 'FAILED';
      trajectory.error = errorMessage(error);
    }
    trajectory.rewardTime.reward_latency ??= 0;
    this.#fillReturns(trajectory);
    await this.#close(trajectory);
    const maskedOut = this.#isMaskedOut(trajectory);
    const views: { [M in CollectMode]: () => Collected[M] } = {
      Trajectory: () => trajectory,
      Steps: () => stepViews(trajectory),
      Conversation: () => conversationView(this.#agent),
      Token: () => tokenView(trajectory, this.#agent, this.#env, maskedOut),
    };
    return views[mode]();
  }

  async #reset(): Promise<void> {
    const before = this.#clock();
    const { observation, info } = resetResult(await this.#env.reset());
    const latency = this.#clock() - before;
    this.#agent.reset();
    this.#agent.trajectory.envTime = { reset_latency: latency, step_latency: [] };
    this.#startedAt = this.#clock();
    this.#responseTokens = 0;
    this.#agent.updateFromEnv(observation, 0, false, { ...info, ...this.#progress() });
    const tokenized = this.#options.tokenize?.(this.#agent.chatCompletions, { first: true, generation: true });
    this.#agent.trajectory.promptTokens = tokenized?.tokens ?? null;
  }

  async #play(trajectory: Trajectory): Promise<void> {
    while (trajectory.status === 'RUNNING') {
      if (trajectory.steps.length >= this.#maxSteps) trajectory.status = 'MAX_STEPS_REACHED';
      else if (this.#isFull()) trajectory.status = 'MAX_CONTEXT_LIMIT_REACHED';
      else if ((await this.#step(trajectory)) && trajectory.status === 'RUNNING') trajectory.status = 'SUCCEEDED';
    }
  }

  /** One reply and its answer; true when the episode is done. */
  async #step(trajectory: Trajectory): Promise<boolean> {
    const output = await this.#callModel(trajectory);
    if (output === null) return true;
    if (trajectory.steps.length === 0 && output.promptTokens) trajectory.promptTokens = output.promptTokens;
    this.#responseTokens += output.tokens?.length ?? 0;
    const action = this.#agent.updateFromModel(output.text);
    const recorded = this.#agent.currentStep ?? trajectory.steps.at(-1);
    if (recorded === undefined)
      throw new TypeError(
        'agent.updateFromModel() recorded no step: it pushes a new Step({ … }) to its trajectory.steps',
      );
    const step = filledIn(recorded, new AgentStep());
    this.#keepTokens(step, output);
    if (this.#remaining() <= 0) return this.#stop(trajectory, step, 'TIMEOUT');
    if (this.#isFull()) {
      // The environment was not asked, so the step is not its last word.
      trajectory.status = 'MAX_CONTEXT_LIMIT_REACHED';
      return true;
    }
    const known = this.#agent.chatCompletions.length;
    const before = this.#clock();
    let result: EnvStepResult;
    try {
      result = await withTimeout(this.#remaining(), this.#options.signal, async (signal) =>
        stepResult(await this.#env.step(action ?? [], signal)),
      );
    } catch (error) {
      if (!(error instanceof TimedOutError)) throw error;
      return this.#stop(trajectory, step, 'ENV_TIMEOUT');
    }
    trajectory.envTime.step_latency?.push(this.#clock() - before);
    const { observation, reward, done, info } = result;
    this.#agent.updateFromEnv(observation, reward, done, { ...info, ...this.#progress() });
    // A user's agent may leave the bookkeeping to the engine.
    if (step.reward === 0) Object.assign(step, { reward, done });
    if (this.#remaining() <= 0) return this.#stop(trajectory, step, 'TIMEOUT');
    // The model never sees messages after its last reply, so their tokens are not recorded.
    if (!done) this.#keepEnvTokens(step, this.#agent.chatCompletions.slice(known));
    return done;
  }

  async #callModel(trajectory: Trajectory): Promise<ModelOutput | null> {
    const limit = this.#options.maxResponseLength ?? null;
    const maxGenerationSteps = limit === null ? null : limit - this.#responseTokens;
    try {
      return await withTimeout(this.#remaining(), this.#options.signal, async (signal) =>
        this.#options.modelCall(this.#agent.chatCompletions, { env: this.#env, maxGenerationSteps, signal }),
      ).then((output) => (typeof output === 'string' ? { text: output } : output));
    } catch (error) {
      if (!(error instanceof TimedOutError)) throw error;
      trajectory.status = 'TIMEOUT';
      const last = trajectory.steps.at(-1);
      if (last) last.done = true;
      return null;
    }
  }

  #stop(trajectory: Trajectory, step: AgentStep, status: TrajectoryStatus): true {
    step.done = true;
    trajectory.status = status;
    return true;
  }

  #keepTokens(step: AgentStep, { tokens, logprobs }: ModelOutput): void {
    if (!tokens) return;
    if (logprobs && logprobs.length !== tokens.length) {
      throw new RangeError(`the model gave ${tokens.length} tokens and ${logprobs.length} log probabilities`);
    }
    step.logprobs = logprobs ? [...logprobs] : null;
    // Without the environment's tokens, the ids are not a sequence that a learner could use.
    if (!this.#options.tokenize) return;
    const suffix = this.#options.tokenize.suffix ?? [];
    step.assistantTokens = [...tokens, ...suffix];
    step.assistantMasks = [...tokens.map(() => 1), ...suffix.map(() => 0)];
    step.logprobs = logprobs ? [...logprobs, ...suffix.map(() => 0)] : null;
  }

  #keepEnvTokens(step: AgentStep, messages: readonly Message[]): void {
    const tokenized = this.#options.tokenize?.(messages, {
      first: false,
      generation: true,
      lastId: step.assistantTokens?.at(-1) ?? null,
    });
    if (!tokenized) return;
    step.envTokens = tokenized.tokens;
    step.envMasks = tokenized.masks;
    this.#responseTokens += tokenized.tokens.length;
  }

  async #addFinalReward(trajectory: Trajectory): Promise<void> {
    const last = trajectory.steps.at(-1);
    const { finalRewardFn } = this.#options;
    if (!last || !(finalRewardFn || this.#env.finalReward)) return;
    const before = this.#clock();
    const given = finalRewardFn
      ? await finalRewardFn(trajectory.task, last.modelResponse)
      : await this.#env.finalReward?.();
    last.reward += rewardNumber(given);
    trajectory.rewardTime.reward_latency = this.#clock() - before;
  }

  #fillReturns(trajectory: Trajectory): void {
    const rewards = trajectory.steps.map((step) => step.reward);
    const returns = monteCarloReturns(rewards, this.#options.gamma ?? 1);
    for (const [index, step] of trajectory.steps.entries()) step.mcReturn = numberInAt(returns, index);
    trajectory.reward = rewards.reduce((sum, reward) => sum + reward, 0);
  }

  async #close(trajectory: Trajectory): Promise<void> {
    const before = this.#clock();
    try {
      await withTimeout(CLOSE_SECONDS, undefined, async () => this.#env.close?.());
    } catch (error) {
      // Keeps the collected trajectory, and reports the failure to close the environment.
      trajectory.error ??= `close: ${errorMessage(error)}`;
    }
    trajectory.envTime.close_latency = this.#clock() - before;
  }

  #isMaskedOut({ status }: Trajectory): boolean {
    return (
      // An empty list means the defaults, as in Tunix.
      this.#options.overlongFilter === true &&
      (this.#options.filterStatuses?.length ? this.#options.filterStatuses : OVERLONG_STATUSES).includes(status)
    );
  }

  #isFull(): boolean {
    const limit = this.#options.maxResponseLength ?? null;
    return limit !== null && this.#responseTokens >= limit;
  }

  #remaining = (): number => (this.#options.timeout ?? 600) - (this.#clock() - this.#startedAt);

  get #maxSteps(): number {
    return this.#options.maxSteps ?? this.#env.maxSteps ?? MAX_STEPS;
  }

  #progress(): { max_steps: JsonValue; cur_tokens: JsonValue } {
    return { max_steps: this.#maxSteps, cur_tokens: this.#responseTokens };
  }
}

/**
 * Plays many pairs, `concurrency` at a time, and yields `[index, result]` as they end.
 * As in Tunix, the defaults differ from the engine's: 30 s, and overlong trajectories are filtered.
 */
export async function* collectMultiple<Mode extends CollectMode = 'Trajectory'>(
  pairs: readonly (readonly [Agent, Environment])[],
  { mode = 'Trajectory' as Mode, concurrency = 32, ...options }: CollectOptions & { mode?: Mode; concurrency?: number },
): AsyncGenerator<[number, Collected[Mode]]> {
  const jobs = (async function* () {
    yield* pairs.entries();
  })();
  yield* pool(jobs, concurrency, async ([index, [agent, env]]): Promise<[number, Collected[Mode]]> => {
    const engine = new TrajectoryCollectEngine(agent, env, { timeout: 30, overlongFilter: true, ...options });
    return [index, await engine.collect(mode)];
  });
}
