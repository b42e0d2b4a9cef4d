import { randomUUID } from 'node:crypto';
import { type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import type { OwnUse } from '../common/own-use.ts';
import { CannotLoadError, OwnCodeError } from '../python/own-error.ts';
import { callHeld, type HeldObject, type LoadRequest } from '../python/own-host.ts';
import { OpenAIFunctionToolSchema } from '../tools/schema.ts';
import type { Tool, ToolResponse, ToolResult, ToolRun } from '../tools/tool.ts';
import type { OwnTarget } from './own-code.ts';

export interface OwnToolSetup {
  own: OwnTarget;
  config: JsonObject;
  /** Null if the class itself provides it (`get_openai_tool_schema`). */
  schema: OpenAIFunctionToolSchema | null;
  /** The file and line that name it. */
  from: string;
}

interface Instance {
  held: HeldObject;
  /** The tool's id for it. */
  id: string;
  /** One of its calls ended the process. */
  isGuilty: boolean;
}

/**
 * A user's tool class, in a process of the user's interpreter, with verl's life cycle. One object of the class serves all rollouts, as in
 * verl; each rollout has an instance in it.
 */
export class OwnTool implements Tool {
  readonly use: OwnUse;
  readonly lastWord = 1.5;
  readonly #own: OwnTarget;
  readonly #request: LoadRequest;
  readonly #instances = new Map<string, Instance>();
  /** Creations under way, by the rollout's id for the instance. */
  readonly #making = new Map<string, Promise<void>>();
  #schema: OpenAIFunctionToolSchema | null;

  constructor({ own, config, schema, from }: OwnToolSetup) {
    this.#own = own;
    this.#schema = schema;
    this.#request = { kind: 'tool', target: own.target, config, schema: schema as unknown as JsonValue };
    this.use = { what: own.text, runs: own.runs, from };
  }

  /** Before `start`, the class name if the tool file has no schema. */
  get name(): string {
    return this.#schema?.function.name ?? this.#own.text;
  }

  /** The object that environments are created with. */
  held(signal?: AbortSignal): Promise<HeldObject> {
    return this.#own.host.shared(this.#request, signal);
  }

  get host() {
    return this.#own.host;
  }

  /** Imports and constructs the class, so errors in it are known before the first rollout. @throws Error naming the file and line */
  async start(signal?: AbortSignal): Promise<void> {
    const { about } = await this.held(signal).catch((error: Error) => {
      throw error instanceof OwnCodeError
        ? new CannotLoadError(`${this.use.from} (${this.use.what}): ${error.message}`)
        : error;
    });
    if (about.schema === null || about.schema === undefined) {
      throw new CannotLoadError(
        `${this.use.from} (${this.use.what}): neither a tool_schema here, nor get_openai_tool_schema in the class`,
      );
    }
    const schema = OpenAIFunctionToolSchema.safeParse(about.schema);
    if (!schema.success)
      throw new CannotLoadError(`${this.use.from} (${this.use.what}): its schema is not a function of OpenAI's form`);
    this.#schema = schema.data;
  }

  getOpenAIToolSchema(): OpenAIFunctionToolSchema {
    if (this.#schema === null) throw new Error(`${this.use.what} was not started: it gives its schema itself`);
    return this.#schema;
  }

  async create(instanceId: string = randomUUID(), kwargs: JsonObject = {}, { signal }: ToolRun = {}) {
    const held = await this.held(signal);
    const making = callHeld(held, 'create', [instanceId, kwargs], signal).then((value) => {
      const answer = objectIn(value);
      this.#own.host.hold(held.process);
      this.#instances.set(instanceId, { held, id: String(answer.instance), isGuilty: false });
      return answer;
    });
    const settled = making.then(
      () => {},
      (error: Error) => releaseLate(held, error),
    );
    this.#making.set(instanceId, settled);
    void settled.finally(() => this.#making.delete(instanceId));
    return { instanceId, response: responseOf(await making) };
  }

  async execute(
    instanceId: string,
    parameters: JsonValue,
    kwargs: JsonObject = {},
    { signal }: ToolRun = {},
  ): Promise<ToolResult> {
    const instance = this.#instance(instanceId);
    const { held, id } = instance;
    const answer = objectIn(
      await callHeld(held, 'execute', [id, parameters, kwargs], signal).catch((error: Error) => {
        if (error instanceof OwnCodeError && error.endsProcess) instance.isGuilty = true;
        throw error;
      }),
    );
    return {
      response: responseOf(answer),
      reward: typeof answer.reward === 'number' ? answer.reward : null,
      metrics: answer.metrics ?? null,
    };
  }

  async calcReward(instanceId: string, kwargs: JsonObject = {}, { signal }: ToolRun = {}): Promise<JsonValue> {
    const { held, id } = this.#instance(instanceId);
    return callHeld(held, 'calc_reward', [id, kwargs], signal);
  }

  async release(instanceId: string, kwargs: JsonObject = {}): Promise<void> {
    await this.#making.get(instanceId);
    const instance = this.#instances.get(instanceId);
    if (instance === undefined) return;
    this.#instances.delete(instanceId);
    const { held, id } = instance;
    try {
      // The instance is gone with its process.
      if (!held.process.isDead) await callHeld(held, 'release', [id, kwargs]);
    } finally {
      this.#own.host.free(held.process);
    }
  }

  #instance(instanceId: string): Instance {
    const instance = this.#instances.get(instanceId);
    if (instance === undefined) throw new Error(`${this.name} has no instance '${instanceId}': create it first`);
    if (!instance.isGuilty && !instance.held.process.isDead) return instance;
    // The rollout whose call ended the process is not retried: it would end the next process, too.
    throw new OwnCodeError(
      `the state of ${this.name} was lost with its process, which ${instance.isGuilty ? 'an earlier call of this rollout' : 'another call'} ended`,
      { fault: instance.isGuilty ? 'tool' : 'world' },
    );
  }
}

/** Releases an instance that was made after all when its rollout no longer waited for it: nobody else knows its id. */
async function releaseLate(held: HeldObject, error: Error): Promise<void> {
  if (!(error instanceof OwnCodeError) || error.late === undefined) return;
  const { instance } = objectIn(error.late);
  await callHeld(held, 'release', [String(instance), {}]).catch(() => {});
}

function responseOf(answer: JsonObject): ToolResponse {
  const text = typeof answer.text === 'string' ? answer.text : '';
  const images = Array.isArray(answer.images) ? answer.images.map(String) : [];
  return {
    text,
    ...(typeof answer.error === 'string' ? { error: answer.error } : {}),
    ...(images.length > 0 ? { images: images.map((url) => ({ url })) } : {}),
  };
}

/** Starts the user's tools among these. @throws CannotLoadError */
export async function startOwnTools(tools: readonly Tool[], signal?: AbortSignal): Promise<void> {
  // Sequential: the output of two modules' imports does not mix, and the first error is the first in the file.
  for (const tool of tools) if (tool instanceof OwnTool) await tool.start(signal);
}

export const ownUsesOf = (tools: readonly Tool[]): OwnUse[] =>
  tools.flatMap((tool) => (tool instanceof OwnTool ? [tool.use] : []));
