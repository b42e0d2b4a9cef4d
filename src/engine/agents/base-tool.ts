import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { pythonJson } from '../common/python.ts';
import { pythonText } from '../common/python-text.ts';
import { calculate } from '../tools/calculator.ts';

/** A call that a model requested; `arguments` as it wrote them. */
export class ToolCall {
  name: string;
  arguments: JsonValue;
  id?: string | undefined;

  /** `new ToolCall('add', { a: 1 })`, or its fields as one object. */
  constructor(name: string | { name: string; arguments: JsonValue; id?: string | undefined }, args: JsonValue = {}) {
    const given = typeof name === 'string' ? { name, arguments: args } : name;
    this.name = given.name;
    this.arguments = given.arguments;
    if ('id' in given) this.id = given.id;
  }
}

/** A tool's answer. The model reads its text. */
export class ToolOutput {
  readonly name: string;
  readonly output: JsonValue;
  readonly error: string | null;
  readonly metadata: JsonObject | null;

  constructor(fields: { name: string; output?: JsonValue; error?: string | null; metadata?: JsonObject | null }) {
    this.name = fields.name;
    this.output = fields.output ?? null;
    this.error = fields.error ?? null;
    this.metadata = fields.metadata ?? null;
  }

  toString(): string {
    if (this.error) return `Error: ${this.error}`;
    if (this.output === null) return '';
    return typeof this.output === 'object' ? pythonJson(this.output) : pythonText(this.output);
  }
}

const NOT_IMPLEMENTED = 'Tool must implement either `apply()` or `apply_async()`';

/** An exception type that Python has and JavaScript lacks; the model reads its name. */
function namedError(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

/** A tool without instances (`tunix/rl/agentic/tools/base_tool.py`). Its names are fixed once it is created. */
export abstract class BaseTool {
  /** Replaces what Python takes from the class's docstring. */
  static description?: string;
  readonly name: string;
  readonly description: string;
  /** MCP's schema of the arguments. */
  readonly inputSchema?: JsonObject;

  constructor(name: string, description: string) {
    this.name = name;
    this.description = description;
    Object.defineProperties(this, { name: { writable: false }, description: { writable: false } });
  }

  /** The schema in OpenAI's form. */
  abstract get json(): JsonObject;

  toMcpJson(): JsonObject {
    const { name, description } = this;
    return { type: 'function', function: { name, description, parameters: this.inputSchema ?? {} } };
  }

  /** One call; Tunix's `apply`. */
  forward(_kwargs: JsonObject): ToolOutput {
    throw namedError('NotImplementedError', NOT_IMPLEMENTED);
  }

  /** The asynchronous version; Tunix's `apply_async`. Neither falls back to the other. */
  async asyncForward(_kwargs: JsonObject, _signal?: AbortSignal): Promise<ToolOutput> {
    throw namedError('NotImplementedError', NOT_IMPLEMENTED);
  }
}

const NUMBER = (description: string): JsonObject => ({ type: 'number', description });

export class CalculatorTool extends BaseTool {
  static override description = `A basic calculator tool that performs arithmetic operations.

  Supports the four fundamental arithmetic operations: addition, subtraction,
  multiplication, and division. Provides proper error handling for edge cases
  such as division by zero and invalid operators. Returns numerical results
  in a standardized ToolOutput format for consistent integration with agent
  systems.
  `;

  get json(): JsonObject {
    const op: JsonObject = { type: 'string', enum: ['+', '-', '*', '/'], description: 'Operator, one of: + - * /' };
    const properties = { a: NUMBER('The first operand'), b: NUMBER('The second operand'), op };
    const parameters: JsonObject = { type: 'object', properties, required: ['a', 'b', 'op'] };
    return { type: 'function', function: { name: this.name, description: this.description, parameters } };
  }

  override forward({ a, b, op }: JsonObject): ToolOutput {
    try {
      return new ToolOutput({ name: this.name, output: calculate(a, b, op) });
    } catch (error) {
      return new ToolOutput({ name: this.name, error: errorMessage(error) });
    }
  }
}
