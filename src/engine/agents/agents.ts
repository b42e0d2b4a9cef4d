import { randomUUID } from 'node:crypto';
import { printJson } from '../../core/json/print.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json/value.ts';
import type { Message } from '../common/message.ts';
import { pythonJson } from '../common/python.ts';
import { ToolManager, type ToolMap } from './tool-manager.ts';
import { getToolParser, type ToolParser } from './tool-parser.ts';
import { type AgentAction, AgentStep, type Observation, Trajectory } from './trajectory.ts';

/** Turns observations into messages, and replies into actions; keeps the trajectory. */
export interface Agent {
  readonly chatCompletions: Message[];
  readonly trajectory: Trajectory;
  readonly currentStep: AgentStep | null;
  updateFromEnv(observation: Observation, reward: number, done: boolean, info: JsonObject): void;
  updateFromModel(response: string): AgentAction | null;
  reset(): void;
}

/** Base class for your own agents: conversation, trajectory, and how both grow. */
export abstract class BaseAgent implements Agent {
  abstract get chatCompletions(): Message[];
  abstract get trajectory(): Trajectory;
  abstract updateFromEnv(observation: Observation, reward: number, done: boolean, info: JsonObject): void;
  abstract updateFromModel(response: string): AgentAction | null;
  abstract reset(): void;

  get currentStep(): AgentStep | null {
    return this.trajectory.steps.at(-1) ?? null;
  }
}

/** Tunix's ConversationAgentBase: a system message is always there, even an empty one; the first observation is the task. */
export abstract class ConversationAgent extends BaseAgent {
  readonly #systemContent: string;
  #messages: Message[] = [];
  #trajectory: Trajectory = new Trajectory();

  constructor(systemContent = '') {
    super();
    this.#systemContent = systemContent;
    this.reset();
  }

  get chatCompletions(): Message[] {
    return this.#messages;
  }

  get trajectory(): Trajectory {
    return this.#trajectory;
  }

  reset(): void {
    this.#trajectory = new Trajectory();
    this.#messages = [{ role: 'system', content: this.#systemContent }];
  }

  updateFromEnv(observation: Observation, reward: number, done: boolean, info: JsonObject): void {
    if (this.#trajectory.task === null) {
      this.#trajectory.task =
        typeof observation === 'string' ? { prompts: [observation] } : structuredClone(observation);
    }
    const step = this.currentStep;
    if (step) Object.assign(step, { observation, reward, done, info: info ?? {} });
    if (observation !== null) this.#messages.push(...this.observationMessages(observation));
  }

  abstract override updateFromModel(response: string): AgentAction | null;

  /** `prompts` goes before `question`; other observations add no message. */
  protected observationMessages(observation: JsonValue): Message[] {
    if (typeof observation === 'string') return [{ role: 'user', content: observation }];
    if (!isJsonObject(observation)) return [];
    if (Object.hasOwn(observation, 'prompts')) return [agentMessage(observation.prompts)];
    if (Object.hasOwn(observation, 'question')) return [agentMessage(observation.question)];
    return [];
  }

  /** Appends the reply and its step. */
  protected record<Action extends AgentAction | null>(response: string, action: Action): Action {
    this.#messages.push({ role: 'assistant', content: response });
    const chatCompletions = structuredClone(this.#messages);
    this.#trajectory.steps.push(
      new AgentStep({ chatCompletions, action, modelResponse: response, thought: thoughtOf(response) }),
    );
    return action;
  }
}

/** A list of parts goes to the model unchanged. */
const agentMessage = (value: JsonValue | undefined): Message => ({
  role: 'user',
  content: Array.isArray(value) ? (value as JsonObject[]) : observationText(value),
});

const THINK = /^\s*<think>([\s\S]*?)<\/think>/;

/** The reasoning before the answer, if the model marks it. */
const thoughtOf = (response: string): string => THINK.exec(response)?.[1]?.trim() ?? '';

function observationText(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : printJson(value);
}

/** The reply itself is the action. */
export class ModelAgent extends ConversationAgent {
  updateFromModel(response: string): AgentAction {
    return this.record(response, response);
  }
}

/** One call of a ToolAgent's action; `arguments` is JSON text for a call, an object for `finish`. */
interface ActionCall extends JsonObject {
  id: string;
  type: 'function';
  function: { name: string; arguments: JsonValue };
}

/** Lists the tools in the system message and reads the model's calls; a reply without one is the answer, as a call of `finish`. */
export class ToolAgent extends ConversationAgent {
  readonly toolManager: ToolManager;
  readonly #parser: ToolParser;

  constructor(systemPrompt: string | null = '', parserName = 'qwen', toolMap: ToolMap = {}) {
    const parser = getToolParser(parserName);
    const manager = new ToolManager(toolMap);
    // Tunix puts nothing between the two.
    super((systemPrompt ?? '') + parser.getToolPrompt(manager.tools));
    this.#parser = parser;
    this.toolManager = manager;
  }

  updateFromModel(response: string): AgentAction {
    let calls: ActionCall[] = [];
    try {
      calls = this.#parser.parse(response).map(({ name, arguments: args }) => ({
        id: randomUUID(),
        type: 'function',
        function: { name, arguments: typeof args === 'string' ? args : pythonJson(args) },
      }));
    } catch {
      // A call that cannot be parsed is an answer, like any other text.
    }
    if (calls.length === 0) {
      calls = [{ id: randomUUID(), type: 'function', function: { name: 'finish', arguments: { response } } }];
    }
    return this.record(response, calls);
  }

  protected override observationMessages(observation: JsonValue): Message[] {
    if (!isJsonObject(observation)) return super.observationMessages(observation);
    if (!isJsonObject(observation.tool_outputs)) {
      const { question } = observation;
      return question === undefined ? [] : [agentMessage(question)];
    }
    const outputs = observation.tool_outputs;
    // An object would put number-like keys first, so this uses the order of the calls.
    const action = this.currentStep?.action;
    const called = Array.isArray(action) ? action.map((call) => (isJsonObject(call) ? String(call.id) : '')) : [];
    const ids = [
      ...called.filter((id) => Object.hasOwn(outputs, id)),
      ...Object.keys(outputs).filter((id) => !called.includes(id)),
    ];
    return ids.map((id) => ({
      role: 'tool',
      tool_call_id: id,
      content: `Tool returned result: ${observationText(outputs[id])}`,
    }));
  }
}
