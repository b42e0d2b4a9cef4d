import { randomUUID } from 'node:crypto';
import { printJson } from '../../json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json/value.ts';
import type { Message } from '../message.ts';
import type { Tool } from '../tools/tool.ts';
import { type ToolParser, toolParser } from './tool-parser.ts';
import {
  type Action,
  type AgentStep,
  newStep,
  newTrajectory,
  type Observation,
  type Trajectory,
} from './trajectory.ts';

/** Turns observations into messages, and replies into actions; keeps the trajectory. */
export interface Agent {
  readonly chatCompletions: Message[];
  readonly trajectory: Trajectory;
  readonly currentStep: AgentStep | null;
  updateFromEnv(observation: Observation, reward: number, done: boolean, info: JsonObject): void;
  updateFromModel(response: string): Action | null;
  reset(): void;
}

/** Tunix's ConversationAgentBase: a system message is always there, even an empty one; the first observation is the task. */
export abstract class ConversationAgent implements Agent {
  readonly #systemContent: string;
  #messages: Message[] = [];
  #trajectory: Trajectory = newTrajectory();

  constructor(systemContent = '') {
    this.#systemContent = systemContent;
    this.reset();
  }

  get chatCompletions(): Message[] {
    return this.#messages;
  }

  get trajectory(): Trajectory {
    return this.#trajectory;
  }

  get currentStep(): AgentStep | null {
    return this.#trajectory.steps.at(-1) ?? null;
  }

  reset(): void {
    this.#trajectory = newTrajectory();
    this.#messages = [{ role: 'system', content: this.#systemContent }];
  }

  updateFromEnv(observation: Observation, reward: number, done: boolean, info: JsonObject): void {
    if (this.#trajectory.task === null) {
      this.#trajectory.task =
        typeof observation === 'string' ? { prompts: [observation] } : structuredClone(observation);
    }
    const step = this.currentStep;
    if (step) Object.assign(step, { observation, reward, done, info });
    if (observation !== null) this.#messages.push(...this.observationMessages(observation));
  }

  abstract updateFromModel(response: string): Action | null;

  /** A `prompts` goes before a `question`; anything else says nothing. */
  protected observationMessages(observation: JsonValue): Message[] {
    if (typeof observation === 'string') return [{ role: 'user', content: observation }];
    if (!isJsonObject(observation)) return [];
    if (Object.hasOwn(observation, 'prompts')) return [{ role: 'user', content: textOf(observation.prompts) }];
    if (Object.hasOwn(observation, 'question')) return [{ role: 'user', content: textOf(observation.question) }];
    return [];
  }

  /** Appends the reply and its step. */
  protected record(response: string, action: Action | null): Action | null {
    this.#messages.push({ role: 'assistant', content: response });
    const chatCompletions = structuredClone(this.#messages);
    this.#trajectory.steps.push(newStep({ chatCompletions, action, modelResponse: response }));
    return action;
  }
}

function textOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : printJson(value);
}

/** The reply itself is the action. */
export class ModelAgent extends ConversationAgent {
  updateFromModel(response: string): Action {
    return this.record(response, response)!;
  }
}

/** One call of a ToolAgent's action; `arguments` is JSON text for a call, an object for `finish`. */
interface ActionCall extends JsonObject {
  id: string;
  type: 'function';
  function: { name: string; arguments: JsonValue };
}

/** Tells the model of its tools in the system message, and reads its calls; a reply without one is the answer, a call of `finish`. */
export class ToolAgent extends ConversationAgent {
  readonly #parser: ToolParser;

  constructor(systemPrompt: string, tools: readonly Tool[] = [], parserName = 'qwen') {
    const parser = toolParser(parserName);
    // Tunix puts nothing between the two.
    super(systemPrompt + parser.toolPrompt(tools.map((tool) => tool.getOpenAIToolSchema())));
    this.#parser = parser;
  }

  updateFromModel(response: string): Action {
    let calls: ActionCall[] = [];
    try {
      calls = this.#parser.parse(response).map(({ name, arguments: args }) => ({
        id: randomUUID(),
        type: 'function',
        function: { name, arguments: typeof args === 'string' ? args : printJson(args) },
      }));
    } catch {
      // A call that cannot be read is an answer, as any other text.
    }
    if (calls.length === 0) {
      calls = [{ id: randomUUID(), type: 'function', function: { name: 'finish', arguments: { response } } }];
    }
    return this.record(response, calls)!;
  }

  protected override observationMessages(observation: JsonValue): Message[] {
    if (!isJsonObject(observation) || !isJsonObject(observation.tool_outputs)) {
      if (isJsonObject(observation) && Object.hasOwn(observation, 'prompts')) return [];
      return super.observationMessages(observation);
    }
    const outputs = observation.tool_outputs;
    // Keys that look like numbers would come first in an object, so the calls' own order is taken.
    const action = this.currentStep?.action;
    const called = Array.isArray(action) ? action.map((call) => (isJsonObject(call) ? String(call.id) : '')) : [];
    const ids = [
      ...called.filter((id) => Object.hasOwn(outputs, id)),
      ...Object.keys(outputs).filter((id) => !called.includes(id)),
    ];
    return ids.map((id) => ({
      role: 'tool',
      tool_call_id: id,
      content: `Tool returned result: ${textOf(outputs[id])}`,
    }));
  }
}
