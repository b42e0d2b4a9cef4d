import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../async/timeout.ts';
import type { JsonObject } from '../../json/value.ts';
import type { ToolKwargs } from '../request/tool-calls.ts';
import type { Tool, ToolResult } from './tool.ts';

/**
 * One call of a tool outside a rollout, with an instance of its own: create, execute, release always. Rejects with what the tool throws,
 * or with TimedOutError after `seconds`.
 */
export async function executeTool(
  tool: Tool,
  parameters: JsonObject,
  {
    kwargs = {},
    seconds = 300,
    signal,
  }: { kwargs?: ToolKwargs; seconds?: number; signal?: AbortSignal | undefined } = {},
): Promise<ToolResult> {
  return withTimeout(seconds, signal, async (inner) => {
    const id = randomUUID();
    try {
      await tool.create(id, kwargs.create_kwargs ?? {}, { signal: inner });
      return await tool.execute(id, parameters, kwargs.execute_kwargs ?? {}, { signal: inner });
    } finally {
      await tool.release(id, kwargs.release_kwargs ?? {});
    }
  });
}
