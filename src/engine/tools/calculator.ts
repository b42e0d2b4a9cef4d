import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { pythonFloat } from '../common/python.ts';
import { StatefulTool, type ToolResult } from './tool.ts';

const isNumber = (value: JsonValue | undefined): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Tunix's CalculatorTool (`tunix/rl/agentic/tools/calculator_tool.py`), with its error texts; numbers print as in Python. */
export function calculate(a: JsonValue | undefined, b: JsonValue | undefined, op: JsonValue | undefined): string {
  if (a === undefined || b === undefined || op === undefined || a === null || b === null || op === null) {
    throw new Error("Missing required arguments: 'a', 'b', and 'op'");
  }
  if (!isNumber(a) || !isNumber(b)) throw new Error("Operands 'a' and 'b' must be numbers (int or float)");
  if (typeof op !== 'string') throw new Error("Operator 'op' must be a string");
  if (op === '/') {
    if (Number(b) === 0) throw new Error('Division by zero is not allowed');
    return pythonFloat(Number(a) / Number(b));
  }
  const whole = [a, b].every((operand) => typeof operand === 'bigint' || Number.isInteger(operand));
  const [left, right] = whole ? [BigInt(a), BigInt(b)] : [Number(a), Number(b)];
  const result = apply(left, right, op);
  return typeof result === 'bigint' ? String(result) : pythonFloat(result);
}

// Whole numbers are bigint, so that sums and products are as long as in Python.
function apply(a: number | bigint, b: number | bigint, op: string): number | bigint {
  const both = typeof a === 'bigint' && typeof b === 'bigint';
  if (op === '+') return both ? a + b : Number(a) + Number(b);
  if (op === '-') return both ? a - b : Number(a) - Number(b);
  if (op === '*') return both ? a * b : Number(a) * Number(b);
  throw new Error(`Unsupported operator: ${op}`);
}

export class CalculatorTool extends StatefulTool<null> {
  protected start(): null {
    return null;
  }

  protected async run(_state: null, { a, b, op }: JsonObject): Promise<ToolResult> {
    try {
      return { response: { text: calculate(a, b, op) }, reward: null, metrics: null };
    } catch (error) {
      const message = errorMessage(error);
      return { response: { text: `Error: ${message}`, error: message }, reward: null, metrics: null };
    }
  }
}

export const CALCULATOR_SCHEMA = {
  type: 'function' as const,
  function: {
    name: 'calculator',
    description: 'Add, subtract, multiply or divide two numbers.',
    parameters: {
      type: 'object',
      properties: {
        a: { type: 'number', description: 'The first operand.', enum: null },
        b: { type: 'number', description: 'The second operand.', enum: null },
        op: { type: 'string', description: 'The operator.', enum: ['+', '-', '*', '/'] },
      },
      required: ['a', 'b', 'op'],
    },
    strict: false,
  },
};
