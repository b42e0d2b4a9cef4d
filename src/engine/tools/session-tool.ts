import { z } from 'zod';
import { printJson } from '../../core/json/print.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { SessionClient } from '../../sandbox/sessions/client.ts';
import { instanceIdOf } from '../session/instance-id.ts';
import { sessionCauseOf } from '../session/session-world.ts';
import type { OpenAIFunctionToolSchema } from './schema.ts';
import { StatefulTool, type ToolResult, type ToolRun } from './tool.ts';

export const SESSION_SCHEMA: OpenAIFunctionToolSchema = {
  type: 'function',
  function: {
    name: 'session',
    description: 'Act in the environment and read what it answers.',
    parameters: {
      type: 'object',
      properties: { content: { type: 'string', description: 'The action.', enum: null } },
      required: ['content'],
    },
    strict: false,
  },
};

const SessionConfig = z.looseObject({
  /** The base address of start_instance, process_action, postprocess and compute_reward. */
  session_url: z.string().min(1, 'session_url is not set'),
});

interface SessionState {
  sid: string;
  isEnded: boolean;
}

/**
 * verl's external environment as a tool: `create_kwargs.instance_hash` (or `instance_id`) starts a session, each call is an action, and
 * the session's reward is the tool's. The protocol requires postprocess before compute_reward, and only once.
 */
export class SessionTool extends StatefulTool<SessionState> {
  readonly #client: SessionClient;

  constructor(config: unknown, schema: OpenAIFunctionToolSchema = SESSION_SCHEMA) {
    super(schema);
    this.#client = new SessionClient({ endpoint: SessionConfig.parse(config ?? {}).session_url });
  }

  protected async start(kwargs: JsonObject, { signal }: ToolRun): Promise<SessionState> {
    const given = kwargs.instance_hash ?? kwargs.instance_id;
    const hash = instanceIdOf(given);
    if (hash === null) {
      const got = given === undefined ? 'nothing' : printJson(given);
      throw new TypeError(`a session is started with the task's instance_id, text or an integer, and got ${got}`);
    }
    return { sid: await this.#client.startInstance(hash, signal), isEnded: false };
  }

  protected async run(
    state: SessionState,
    { content = '' }: JsonObject,
    _kwargs: JsonObject,
    { signal }: ToolRun,
  ): Promise<ToolResult> {
    const action = typeof content === 'string' ? content : printJson(content);
    const { content: text, error } = await this.#client.processAction(state.sid, action, signal);
    if (error === null) return { response: { text }, reward: null, metrics: null };
    // For the model, an answer without an observation is "Error", as in verl; a missing answer is not its fault.
    const cause = sessionCauseOf(error);
    const fault = error.kind === 'answer' ? {} : { fault: 'world' as const, ...(cause === null ? {} : { cause }) };
    return { response: { text, error: error.message, ...fault }, reward: null, metrics: null };
  }

  sidOf(instanceId: string): string | null {
    return this.stateOf(instanceId)?.sid ?? null;
  }

  protected override async reward(state: SessionState, _kwargs: JsonObject, { signal }: ToolRun): Promise<JsonValue> {
    await this.#end(state, signal);
    const { reward, error } = await this.#client.computeReward(state.sid, signal);
    if (error) throw error;
    return reward;
  }

  /** An interrupted rollout leaves its session to be ended here. */
  protected override async end(state: SessionState): Promise<void> {
    await this.#end(state, undefined);
  }

  async #end(state: SessionState, signal: AbortSignal | undefined): Promise<void> {
    if (state.isEnded) return;
    state.isEnded = true;
    await this.#client.postprocess(state.sid, signal);
  }
}
