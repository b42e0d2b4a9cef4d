import { randomUUID } from 'node:crypto';
import { printJson } from '../../core/json/print.ts';
import { type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import { thrownError } from '../../core/text/thrown.ts';
import { RolloutFault } from '../common/faults.ts';
import { DEFAULT_LIMITS, type Limits } from '../request/limits.ts';
import { rulesOf } from '../request/rules.ts';
import { shownText, type ToolKwargs } from '../request/tool-calls.ts';
import { ToolInstances } from '../request/tool-instances.ts';
import type { Tool } from '../tools/tool.ts';
import { BaseTool, type ToolCall, ToolOutput } from './base-tool.ts';

export type ToolClass = new (name: string, description: string) => BaseTool;
/** Tools by name; in a list, by the tools' own names. */
export type ToolMap = Readonly<Record<string, ToolClass | BaseTool | Tool>> | readonly (BaseTool | Tool)[];

/** Wraps a tool of verl's interface for a manager; it runs as in a rollout. */
class InstanceTool extends BaseTool {
  readonly #tool: Tool;
  readonly #open: (signal: AbortSignal) => Promise<ToolInstances>;
  readonly #limits: Limits;

  constructor(tool: Tool, open: (signal: AbortSignal) => Promise<ToolInstances>, limits: Limits) {
    const { name, description } = tool.getOpenAIToolSchema().function;
    super(name, description);
    this.#tool = tool;
    this.#open = open;
    this.#limits = limits;
  }

  get json(): JsonObject {
    return this.#tool.getOpenAIToolSchema() as unknown as JsonObject;
  }

  /** @throws RolloutFault if the world failed, rather than the call */
  override async asyncForward(kwargs: JsonObject, signal = new AbortController().signal): Promise<ToolOutput> {
    const instances = await this.#open(signal);
    const call = { name: this.name, error: null, argumentText: printJson(kwargs) };
    const { response, reward, metrics } = await instances.execute(call, signal);
    const said = { reward, metrics, error: response.error ?? null };
    return new ToolOutput({
      name: this.name,
      output: shownText(response.text, this.#limits, instances.rules),
      metadata: Object.values(said).some((one) => one !== null) ? said : null,
    });
  }
}

const isTool = (made: unknown): made is Tool => typeof (made as Tool).getOpenAIToolSchema === 'function';
/** Drops arguments for tools that are not here. */
const only = (kwargs: ManagerOptions['toolsKwargs'], tools: readonly Tool[]) =>
  Object.fromEntries(Object.entries(kwargs ?? {}).filter(([name]) => tools.some((tool) => tool.name === name)));
const isAsync = (tool: BaseTool): boolean => tool.asyncForward !== BaseTool.prototype.asyncForward;
const isSync = (tool: BaseTool): boolean => tool.forward !== BaseTool.prototype.forward;

export interface ManagerOptions {
  descFallback?: string;
  /** The task's arguments to tools of verl's interface, by tool name. */
  toolsKwargs?: Readonly<Record<string, ToolKwargs>> | undefined;
  /** Length limits for the text of such tools' calls; unlimited by default. */
  limits?: Partial<Limits> | undefined;
}

/** Tools called by name. Tools of verl's interface have one instance each for all calls, created by the first. */
export class ToolManager {
  readonly #tools = new Map<string, BaseTool>();
  readonly #instances: ToolInstances;
  readonly #warnings: string[] = [];
  #opened: Promise<unknown> | null = null;

  /** @throws TypeError for a class that cannot be instantiated */
  constructor(toolMap: ToolMap, { descFallback = '', toolsKwargs, limits: given }: ManagerOptions = {}) {
    const entries = Array.isArray(toolMap)
      ? toolMap.map((tool: BaseTool | Tool) => [tool.name, tool] as const)
      : Object.entries(toolMap);
    const limits = { ...DEFAULT_LIMITS, max_tool_response_length: null, ...given };
    const tools = entries.map(([, made]) => made).filter(isTool);
    this.#instances = new ToolInstances({ tools, toolsKwargs: only(toolsKwargs, tools) }, randomUUID(), {
      limits,
      rules: rulesOf(null),
      warn: (message) => this.#warnings.push(message),
    });
    const open = async (signal: AbortSignal) => {
      await this.open(signal);
      return this.#instances;
    };
    for (const [name, made] of entries) {
      if (made instanceof BaseTool) this.#tools.set(name, made);
      else if (isTool(made)) this.#tools.set(name, new InstanceTool(made, open, limits));
      else this.#tools.set(name, this.#made(name, made, descFallback));
    }
  }

  #made(name: string, Class: ToolClass, descFallback: string): BaseTool {
    // A missing getter of an abstract class: JavaScript users get no TypeScript error for it.
    if (!('json' in Class.prototype))
      throw new TypeError(
        `Cannot instantiate abstract tool class '${name}': ${Class.name}. Please provide concrete implementations of BaseTool.`,
      );
    return new Class(name, (Class as unknown as { description?: string }).description ?? descFallback);
  }

  get names(): string[] {
    return [...this.#tools.keys()];
  }

  get tools(): BaseTool[] {
    return [...this.#tools.values()];
  }

  /** All schemas, in OpenAI's form. */
  get json(): JsonObject[] {
    return this.tools.map(({ json }) => json);
  }

  get mcpJson(): JsonObject[] {
    return this.tools.map((tool) => tool.toMcpJson());
  }

  register(tool: BaseTool): void {
    this.#tools.set(tool.name, tool);
  }

  /** Creates the instances of tools of verl's interface, once. @throws RolloutFault if one cannot be created */
  async open(signal: AbortSignal = new AbortController().signal): Promise<void> {
    // Concurrent calls wait for the same instances.
    this.#opened ??= this.#instances.create(signal);
    await this.#opened;
    const { failure, failureCause } = this.#instances;
    if (failure !== null) throw new RolloutFault(failureCause, failure);
  }

  /** Errors other than those of the calls. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** calc_reward of each tool of verl's interface. @throws RolloutFault if one raises */
  async rewards(signal?: AbortSignal): Promise<Record<string, JsonValue>> {
    if (this.#opened === null) return {};
    const { rewards, failure } = await this.#instances.rewards(signal);
    if (failure !== null) throw new RolloutFault('reward_fault', failure);
    return rewards;
  }

  /** A failure becomes the output's error, except a fault of the world. */
  run(name: string, kwargs: JsonObject): ToolOutput {
    return this.#guarded(name, (tool) => tool.forward(kwargs)) as ToolOutput;
  }

  async runAsync(name: string, kwargs: JsonObject): Promise<ToolOutput> {
    return this.#guarded(name, (tool) => tool.asyncForward(kwargs));
  }

  /** Uses whichever of the two forms the tool has. @throws RolloutFault if the world failed */
  async call(name: string, kwargs: JsonObject, signal?: AbortSignal): Promise<ToolOutput> {
    return this.#guarded(name, (tool) =>
      isAsync(tool) && !isSync(tool) ? tool.asyncForward(kwargs, signal) : tool.forward(kwargs),
    );
  }

  #guarded(name: string, run: (tool: BaseTool) => ToolOutput | Promise<ToolOutput>): ToolOutput | Promise<ToolOutput> {
    const tool = this.#tools.get(name);
    if (tool === undefined) return new ToolOutput({ name, error: `Tool '${name}' not registered.` });
    const failed = (error: unknown) => {
      if (error instanceof RolloutFault) throw error;
      const { name: kind, message } = thrownError(error);
      return new ToolOutput({ name, error: `${kind}: ${message}` });
    };
    try {
      const made = run(tool);
      return made instanceof Promise ? made.catch(failed) : made;
    } catch (error) {
      return failed(error);
    }
  }

  /** All texts, by call id and in call order; calls without an id get one. @throws TypeError for arguments that are not an object */
  async executeCalls(
    calls: readonly ToolCall[],
    how: { parallel?: boolean } | boolean = {},
  ): Promise<Record<string, string>> {
    const { parallel = true } = typeof how === 'boolean' ? { parallel: how } : how;
    const outputs = new Map<string, string>();
    const ids = calls.map(({ id }) => id ?? randomUUID());
    for (const { name, arguments: args } of calls)
      if (typeof args !== 'object' || args === null || Array.isArray(args))
        throw new TypeError(`the arguments of ${name} are not an object`);
    // Keys are inserted first, so they have the order of the calls.
    for (const id of ids) outputs.set(id, '');
    const one = async ({ name, arguments: args }: ToolCall, index: number) =>
      outputs.set(itemAt(ids, index), String(await this.call(name, objectIn(args))));
    if (parallel) await Promise.all(calls.map(one));
    else for (const [index, call] of calls.entries()) await one(call, index);
    return Object.fromEntries(outputs);
  }

  /** Ends the instances of tools of verl's interface. */
  async release(): Promise<void> {
    const opened = this.#opened;
    this.#opened = null;
    if (opened === null) return;
    await opened.catch(() => {});
    await this.#instances.release();
  }
}
