import { withTimeout } from '../../core/async/timeout.ts';
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import { thrownError } from '../../core/text/thrown.ts';
import type { Agent } from '../agents/agents.ts';
import { type Environment, type EnvStepResult, resetResult, stepResult } from '../agents/environments.ts';
import type { AgentAction } from '../agents/trajectory.ts';
import { RolloutFault } from '../common/faults.ts';
import { type Message, messageText, textOfLast } from '../common/message.ts';
import type { UserWord } from '../interactions/interaction.ts';
import type { World } from '../interactions/world.ts';
import { callHeld, type HeldObject, type LoadRequest } from '../python/own-host.ts';
import type { RewardOutput } from '../rewards/reward.ts';
import type { OwnTarget } from './own-code.ts';
import type { OwnTool } from './own-tool.ts';

type MaybePromise<T> = T | Promise<T>;

/** An agent as driven by a world: a built-in one, or a user's in its own process. */
export interface DrivenAgent {
  readonly messages: readonly Message[];
  reset(signal?: AbortSignal): MaybePromise<void>;
  updateFromEnv(result: EnvStepResult, signal?: AbortSignal): MaybePromise<void>;
  updateFromModel(response: string, signal?: AbortSignal): MaybePromise<AgentAction | null>;
}

export interface DrivenEnv {
  /** Null: the environment sets no limit. */
  readonly maxSteps: number | null;
  reset(signal?: AbortSignal): MaybePromise<{ observation: JsonValue; info: JsonObject }>;
  step(action: AgentAction | null, signal?: AbortSignal): MaybePromise<EnvStepResult>;
  finalReward(signal?: AbortSignal): MaybePromise<number | null>;
  close(signal?: AbortSignal): MaybePromise<void>;
}

export const drivenAgent = (agent: Agent): DrivenAgent => ({
  get messages() {
    return agent.chatCompletions;
  },
  reset: () => agent.reset(),
  updateFromEnv: ({ observation, reward, done, info }) => agent.updateFromEnv(observation, reward, done, info),
  updateFromModel: (response) => agent.updateFromModel(response),
});

export const drivenEnv = (env: Environment): DrivenEnv => ({
  maxSteps: env.maxSteps,
  reset: async (signal) => resetResult(await env.reset(signal)),
  step: async (action, signal) => stepResult(await env.step(action, signal)),
  finalReward: async () => (env.finalReward ? await env.finalReward() : null),
  close: () => env.close(),
});

/** Creates agent and environment for one rollout; the environment's `close` frees both. */
export type OpenEpisode = (signal?: AbortSignal) => Promise<{ agent: DrivenAgent; env: DrivenEnv }>;

/**
 * One episode of an agent in an environment as a rollout: the agent's messages are the conversation, each sampled turn becomes its action,
 * and the environment's answer is the next turn. Score: the sum of the steps' rewards and the final one.
 */
export class EnvWorld implements World {
  readonly name = 'environment';
  readonly isWorld = true;
  opening: readonly Message[] = [];
  readonly #open: OpenEpisode;
  #episode: { agent: DrivenAgent; env: DrivenEnv } | null = null;
  /** The agent's messages as of the last model request. */
  #sent: string[] = [];
  #steps = 0;
  #sum = 0;
  #final: number | null = null;
  /** Why there is no final reward. */
  #failure: Error | null = null;
  #info: JsonObject = {};

  constructor(open: OpenEpisode) {
    this.#open = open;
  }

  async start(_instanceId: string, _kwargs: JsonObject, signal?: AbortSignal): Promise<void> {
    this.#episode = await this.#open(signal);
    const { agent, env } = this.#episode;
    const { observation, info } = await env.reset(signal);
    await agent.reset(signal);
    await agent.updateFromEnv({ observation, reward: 0, done: false, info }, signal);
    this.#sent = agent.messages.map(asJson);
    // An agent without a system prompt still has a message for it.
    this.opening = agent.messages.filter(({ role, content }) => role !== 'system' || content !== '');
  }

  async respond(
    _instanceId: string,
    messages: readonly Message[],
    _kwargs: JsonObject,
    signal?: AbortSignal,
    _spoken?: string,
  ): Promise<UserWord> {
    if (this.#episode === null) throw new RolloutFault('own_fault', 'the episode was not started');
    const { agent, env } = this.#episode;
    const sampled = textOfLast(messages);
    const action = await agent.updateFromModel(sampled, signal);
    const result = await env.step(action, signal);
    this.#steps++;
    this.#sum += result.reward;
    this.#info = result.info;
    await agent.updateFromEnv(result, signal);
    const terminate = result.done || (env.maxSteps !== null && this.#steps >= env.maxSteps);
    // The agent has already added the sampled turn.
    const own = this.#sent.length;
    if (agent.messages.length < own + 1)
      throw new RolloutFault('user_fault', 'the agent took back messages, so its turns are not one conversation');
    const given = terminate ? [] : agent.messages.slice(own + 1);
    const warning = this.#rewriting(agent.messages, sampled);
    this.#sent = agent.messages.map(asJson);
    return { terminate, text: '', messages: given, score: result.reward, metadata: result.info, warning };
  }

  /** The model continues the conversation it was shown; if an agent rewrites it afterwards, the two diverge. */
  #rewriting(messages: readonly Message[], sampled: string): string | undefined {
    const own = this.#sent.length;
    const at = messages.findIndex((message, index) => index < own && this.#sent[index] !== asJson(message));
    const turn = messages[own];
    const isKept = turn?.role === 'assistant' && messageText(turn) === sampled;
    const changed = at !== -1 ? at : isKept ? null : own;
    if (changed === null) return undefined;
    return `the agent changed message ${changed} behind the model's back: the conversation and its mask are those shown to the model, not the agent's version`;
  }

  async finalize(): Promise<void> {
    if (this.#episode === null) return;
    const { env } = this.#episode;
    try {
      if (this.#steps > 0)
        this.#final = await withTimeout(END_SECONDS, undefined, async (signal) => env.finalReward(signal));
    } catch (error) {
      this.#failure = thrownError(error);
    }
    await withTimeout(END_SECONDS, undefined, async (signal) => env.close(signal));
  }

  async judge(): Promise<RewardOutput> {
    if (this.#failure !== null) throw this.#failure;
    return { reward: this.#sum + (this.#final ?? 0), metadata: { ...this.#info, steps: this.#steps } };
  }
}

const asJson = (message: Message): string => JSON.stringify(message);

/** Seconds for the final reward, and for closing. */
const END_SECONDS = 150;

/** The task keys that users' environments expect: verl's row, and the question and answer in it. */
export function taskDict(task: {
  row?: JsonObject | undefined;
  messages: readonly Message[];
  groundTruth: JsonValue;
  extraInfo: JsonObject;
}): JsonObject {
  const { row = {}, messages, groundTruth, extraInfo } = task;
  const question = messages.findLast(({ role }) => role === 'user');
  return {
    question: question ? messageText(question) : '',
    answer: groundTruth,
    ground_truth: groundTruth,
    ...extraInfo,
    ...row,
  };
}

export interface OwnEpisodeOptions {
  /** At least one of the two is user code. */
  env: OwnTarget | null;
  agent: OwnTarget | null;
  tools: readonly OwnTool[];
  task: JsonObject;
  /** The task's system message, for an agent that wants one. */
  systemPrompt: string;
  maxSteps: number | null;
  /** Used for the part that is not user code. */
  plainAgent: () => DrivenAgent;
  plainEnv: () => DrivenEnv;
}

/** An episode with a user's environment or agent: both, and the tools they need, live in one process. */
export async function openOwnEpisode(options: OwnEpisodeOptions, signal?: AbortSignal) {
  const { env, agent, tools, task, systemPrompt, maxSteps } = options;
  const { host } = (env ?? agent)!;
  const process = host.process();
  host.hold(process);
  try {
    const keys: JsonObject = {};
    for (const tool of tools) {
      const held = await tool.held(signal);
      if (held.process === process) keys[tool.name] = held.key;
    }
    const load = (kind: LoadRequest['kind'], target: OwnTarget, more: JsonObject) =>
      host.own({ kind, target: target.target, task, tools: keys, ...more }, signal, process);
    const heldEnv = env === null ? null : await load('env', env, { max_steps: maxSteps });
    const heldAgent = agent === null ? null : await load('agent', agent, { system_prompt: systemPrompt });
    const drop = async () => {
      if (!process.isDead)
        await Promise.all(
          [heldEnv, heldAgent].map((held) => held && process.request({ op: 'drop', object: held.key }).catch(() => {})),
        );
      host.free(process);
    };
    const plain = heldEnv === null ? options.plainEnv() : null;
    const close = async () => {
      await plain?.close();
      await drop();
    };
    return {
      env: heldEnv === null ? { ...plain!, maxSteps: plain!.maxSteps, close } : ownEnv(heldEnv, heldAgent, drop),
      agent: heldAgent === null ? options.plainAgent() : ownAgent(heldAgent, heldEnv),
    };
  } catch (error) {
    host.free(process);
    throw error;
  }
}

function ownEnv(held: HeldObject, agent: HeldObject | null, drop: () => Promise<void>): DrivenEnv {
  const limit = held.about.max_steps;
  return {
    maxSteps: typeof limit === 'number' ? limit : null,
    reset: async (signal) =>
      (await callHeld(held, 'reset', [], signal)) as { observation: JsonValue; info: JsonObject },
    // An agent in the same process passes its action on as an object.
    step: async (action, signal) =>
      (await callHeld(
        held,
        'step',
        [action],
        signal,
        agent === null ? {} : { action_of: agent.key },
      )) as unknown as EnvStepResult,
    finalReward: async (signal) => {
      const reward = await callHeld(held, 'final_reward', [], signal);
      return typeof reward === 'number' ? reward : null;
    },
    close: async (signal) => {
      try {
        await callHeld(held, 'close', [], signal);
      } finally {
        await drop();
      }
    },
  };
}

function ownAgent(held: HeldObject, env: HeldObject | null): DrivenAgent {
  let messages: Message[] = [];
  const take = (answer: JsonValue) => {
    const given = isJsonObject(answer) ? answer.messages : null;
    if (Array.isArray(given)) messages = given as unknown as Message[];
    return objectIn(answer);
  };
  return {
    get messages() {
      return messages;
    },
    reset: async (signal) => {
      await callHeld(held, 'reset', [], signal);
    },
    updateFromEnv: async ({ observation, reward, done, info }, signal) => {
      const args = [observation, reward, done, info];
      take(await callHeld(held, 'update_from_env', args, signal, env === null ? {} : { observation_of: env.key }));
    },
    updateFromModel: async (response, signal) =>
      take(await callHeld(held, 'update_from_model', [response], signal)).action ?? null,
  };
}
