import { withinTime } from '../../core/async/timeout.ts';
import type { JsonValue } from '../../core/json/value.ts';
import { errorMessage, thrownError } from '../../core/text/thrown.ts';
import type { Cause } from '../common/faults.ts';
import type { Message } from '../common/message.ts';
import type { OpenAIFunctionToolSchema } from '../tools/schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { Limits } from './limits.ts';
import type { LoopRules } from './rules.ts';
import {
  type CallOutcome,
  executeCall,
  lastWordOf,
  type PendingCall,
  type ToolInstance,
  type ToolKwargs,
  toolCauseOf,
} from './tool-calls.ts';

export interface ToolChoice {
  tools?: readonly Tool[] | undefined;
  /** By tool name. */
  toolsKwargs?: Readonly<Record<string, ToolKwargs>> | undefined;
  /** The tools shown to the model, in this order (verl's `extra_info.tool_selection`); default: all. */
  toolSelection?: readonly string[] | undefined;
}

/** The tools of one rollout through their life: selected, created, called, asked for a reward, released. */
export class ToolInstances {
  readonly schemas: OpenAIFunctionToolSchema[];
  readonly #instances = new Map<string, ToolInstance>();
  readonly #requestId: string;
  readonly #limits: Limits;
  readonly rules: LoopRules;
  readonly #warn: (message: string) => void;
  /** The id of the session behind one of the tools; null if none has one. */
  sid: string | null = null;
  /** Why a tool could not be created. */
  failure: string | null = null;
  failureCause: Cause = 'tool_unavailable';

  constructor(
    choice: ToolChoice,
    requestId: string,
    { limits, rules, warn }: { limits: Limits; rules: LoopRules; warn: (message: string) => void },
  ) {
    this.#requestId = requestId;
    this.#limits = limits;
    this.rules = rules;
    this.#warn = warn;
    for (const tool of this.#chosen(choice)) {
      this.#instances.set(tool.name, { tool, kwargs: choice.toolsKwargs?.[tool.name] ?? {}, isThere: true });
    }
    this.schemas = [...this.#instances.values()].map(({ tool }) => tool.getOpenAIToolSchema());
  }

  #chosen({ tools = [], toolsKwargs = {}, toolSelection }: ToolChoice): readonly Tool[] {
    const isThere = (name: string) => tools.some((tool) => tool.name === name);
    for (const name of Object.keys(toolsKwargs))
      if (!isThere(name)) this.#warn(`tools_kwargs names '${name}', which is not configured`);
    if (toolSelection === undefined || !this.rules.selectsTools) return tools;
    for (const name of toolSelection)
      if (!isThere(name)) this.#warn(`tool_selection names '${name}', which is not configured`);
    return toolSelection.flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
  }

  /** Creates all instances. @returns the tools' opening messages */
  async create(signal: AbortSignal): Promise<Message[]> {
    if (this.rules.instancePerCall || this.#instances.size === 0) return [];
    const opened = await Promise.all(
      [...this.#instances.values()].map(async (instance): Promise<Message[]> => {
        const { tool, kwargs } = instance;
        let running: ReturnType<Tool['create']> | null = null;
        try {
          const { response } = await withinTime(this.#limits.tool_timeout, signal, (own) => {
            running = tool.create(this.#requestId, kwargs.create_kwargs ?? {}, own);
            return running;
          });
          this.sid ??= tool.sidOf?.(this.#requestId) ?? null;
          return response.text === '' ? [] : [{ role: 'tool', name: tool.name, content: response.text }];
        } catch (thrown) {
          signal.throwIfAborted();
          const error = await lastWordOf(thrown, running, tool.lastWord);
          this.failureCause = toolCauseOf(thrownError(error)) ?? 'tool_unavailable';
          this.failure = `tool '${tool.name}' could not be created: ${errorMessage(error)}`;
          instance.isThere = false;
          return [];
        }
      }),
    );
    return opened.flat();
  }

  execute(call: PendingCall, signal: AbortSignal): Promise<CallOutcome> {
    const setting = {
      instances: this.#instances,
      instanceId: this.#requestId,
      limits: this.#limits,
      rules: this.rules,
    };
    return executeCall(call, setting, signal);
  }

  /**
   * Calls calcReward of each tool if the rollout has an end to judge, and always release. @returns the rewards, and why one failed
   */
  async end(
    isJudged: boolean,
    signal: AbortSignal | undefined,
  ): Promise<{ rewards: Record<string, JsonValue>; failure: string | null }> {
    const judged = isJudged ? await this.rewards(signal) : { rewards: {}, failure: null };
    await this.release();
    return judged;
  }

  /** calcReward of each tool. */
  async rewards(
    signal: AbortSignal | undefined,
  ): Promise<{ rewards: Record<string, JsonValue>; failure: string | null }> {
    const rewards: Record<string, JsonValue> = {};
    let failure: string | null = null;
    await this.#each(async (name, { tool, kwargs }) => {
      try {
        rewards[name] = await withinTime(this.#limits.tool_timeout, signal, (own) =>
          tool.calcReward(this.#requestId, kwargs.calc_reward_kwargs ?? {}, own),
        );
      } catch (error) {
        failure = `calc_reward of tool '${name}': ${errorMessage(error)}`;
        this.#warn(failure);
      }
    });
    return { rewards, failure };
  }

  async release(): Promise<void> {
    await this.#each(async (name, instance) => {
      const { tool, kwargs } = instance;
      instance.isThere = false;
      try {
        await withinTime(this.#limits.tool_timeout, undefined, () =>
          tool.release(this.#requestId, kwargs.release_kwargs ?? {}),
        );
      } catch (error) {
        this.#warn(`release of tool '${name}': ${errorMessage(error)}`);
      }
    });
  }

  /** Applies `work` to the tools with instances in this rollout. */
  async #each(work: (name: string, instance: ToolInstance) => Promise<void>): Promise<void> {
    if (this.rules.instancePerCall) return;
    await Promise.all([...this.#instances].map(([name, one]) => (one.isThere ? work(name, one) : undefined)));
  }
}
