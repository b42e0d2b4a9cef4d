import { withTimeout } from '../../async/timeout.ts';
import type { JsonValue } from '../../json/value.ts';
import type { Message } from '../message.ts';
import type { OpenAIFunctionToolSchema } from '../tools/schema.ts';
import type { Tool } from '../tools/tool.ts';
import type { Limits } from './limits.ts';
import { type CallOutcome, executeCall, type PendingCall, type ToolInstance, type ToolKwargs } from './tool-calls.ts';

export interface ToolChoice {
  tools?: readonly Tool[];
  /** By tool name. With `needToolsKwargs` only the tools named here are shown to the model. */
  toolsKwargs?: Readonly<Record<string, ToolKwargs>>;
  /** Default: whether toolsKwargs names any tool, as in verl's request engine. */
  needToolsKwargs?: boolean;
}

/** The tools of one rollout through their life: chosen, created, called, judged, released. What fails is told through `warn`. */
export class ToolInstances {
  readonly schemas: OpenAIFunctionToolSchema[];
  readonly #instances = new Map<string, ToolInstance>();
  readonly #requestId: string;
  readonly #limits: Limits;
  readonly #warn: (message: string) => void;

  constructor(choice: ToolChoice, requestId: string, limits: Limits, warn: (message: string) => void) {
    this.#requestId = requestId;
    this.#limits = limits;
    this.#warn = warn;
    for (const tool of this.#chosen(choice)) {
      this.#instances.set(tool.name, { tool, kwargs: choice.toolsKwargs?.[tool.name] ?? {}, failure: null });
    }
    this.schemas = [...this.#instances.values()].map(({ tool }) => tool.getOpenAIToolSchema());
  }

  #chosen({ tools = [], toolsKwargs = {}, needToolsKwargs }: ToolChoice): readonly Tool[] {
    const named = Object.keys(toolsKwargs);
    for (const name of named.filter((wanted) => !tools.some((tool) => tool.name === wanted))) {
      this.#warn(`tools_kwargs names '${name}', which is not configured`);
    }
    const isChosen = needToolsKwargs ?? named.length > 0;
    if (isChosen && named.length === 0 && tools.length > 0)
      this.#warn('need_tools_kwargs is set, but tools_kwargs is empty');
    return isChosen ? tools.filter((tool) => named.includes(tool.name)) : tools;
  }

  /** Creates all; a tool that cannot be created answers every call with the cause. @returns what tools say before they are called */
  async create(signal: AbortSignal): Promise<Message[]> {
    const opened = await Promise.all(
      [...this.#instances.values()].map(async (instance): Promise<Message[]> => {
        const { tool, kwargs } = instance;
        try {
          const { response } = await withTimeout(this.#limits.tool_timeout, signal, (inner) =>
            tool.create(this.#requestId, kwargs.create_kwargs ?? {}, { signal: inner }),
          );
          return response.text === '' ? [] : [{ role: 'tool', name: tool.name, content: response.text }];
        } catch (error) {
          signal.throwIfAborted();
          instance.failure = `could not be created: ${(error as Error).message}`;
          this.#warn(`tool '${tool.name}' ${instance.failure}`);
          return [];
        }
      }),
    );
    return opened.flat();
  }

  execute(call: PendingCall, signal: AbortSignal): Promise<CallOutcome> {
    return executeCall(call, this.#instances, this.#requestId, this.#limits, signal);
  }

  /** calcReward of each tool where the rollout is judged, and release always; a tool that fails here costs its own reward alone. */
  async end(isJudged: boolean, signal: AbortSignal | undefined): Promise<Record<string, JsonValue>> {
    const rewards: Record<string, JsonValue> = {};
    await Promise.all(
      [...this.#instances].map(async ([name, { tool, kwargs, failure }]) => {
        const { tool_timeout } = this.#limits;
        try {
          if (isJudged && failure === null) {
            rewards[name] = await withTimeout(tool_timeout, signal, (inner) =>
              tool.calcReward(this.#requestId, kwargs.calc_reward_kwargs ?? {}, { signal: inner }),
            );
          }
        } catch (error) {
          this.#warn(`calc_reward of tool '${name}': ${(error as Error).message}`);
        }
        try {
          await withTimeout(tool_timeout, undefined, () => tool.release(this.#requestId, kwargs.release_kwargs ?? {}));
        } catch (error) {
          this.#warn(`release of tool '${name}': ${(error as Error).message}`);
        }
      }),
    );
    return rewards;
  }
}
