import { type JsonObject, objectIn } from '../../src/core/json/value.ts';
import type { OpenAIFunctionToolSchema, Tool, ToolResult } from '../../src/engine/index.ts';

type Execute = (
  parameters: JsonObject,
  instanceId: string,
  signal: AbortSignal | undefined,
) => ToolResult | Promise<ToolResult> | string | Promise<string>;

/** A tool that notes the calls of its life cycle. */
export function fakeTool(name: string, execute: Execute, more: Partial<Tool> = {}) {
  const log: string[] = [];
  const schema: OpenAIFunctionToolSchema = {
    type: 'function',
    function: { name, description: '', parameters: { type: 'object', properties: {}, required: [] }, strict: false },
  };
  const note = (method: string, id: string, kwargs: JsonObject | undefined) =>
    log.push(`${method} ${id} ${JSON.stringify(kwargs)}`);
  const tool: Tool & { log: string[] } = {
    name,
    log,
    getOpenAIToolSchema: () => schema,
    async create(id = 'none', kwargs) {
      note('create', id, kwargs);
      return { instanceId: id, response: { text: '' } };
    },
    async execute(id, parameters, kwargs, run) {
      note('execute', id, kwargs);
      const result = await execute(objectIn(parameters), id, run?.signal);
      return typeof result === 'string' ? { response: { text: result }, reward: null, metrics: null } : result;
    },
    async calcReward(id, kwargs) {
      note('calcReward', id, kwargs);
      return 0;
    },
    async release(id, kwargs) {
      note('release', id, kwargs);
    },
    ...more,
  };
  return tool;
}
