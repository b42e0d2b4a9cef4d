import { isJsonObject, type JsonObject, objectIn } from '../core/json/value.ts';
import { type Rollout, toolCallsOf } from '../core/rollout/rollout.ts';
import type { Tool } from '../engine/index.ts';
import { OwnTool } from '../engine/own/own-tool.ts';

/**
 * The tools in the state that the recorded calls before a turn left them in: a user's own class may keep state, so a new instance for a
 * branch first replays those calls. Their answers are ignored, because the record has them.
 */
export function primedTools(tools: readonly Tool[], rollout: Rollout, turn: number): readonly Tool[] {
  const earlier = toolCallsOf({ ...rollout, turns: rollout.turns.slice(0, turn) }).filter(
    ({ error }) => error === null,
  );
  return tools.map((tool) => {
    const calls = earlier.flatMap(({ name, arguments: args }) =>
      name === tool.name && isJsonObject(args ?? undefined) ? [objectIn(args)] : [],
    );
    return tool instanceof OwnTool && calls.length > 0 ? primed(tool, calls) : tool;
  });
}

const primed = (tool: OwnTool, calls: readonly JsonObject[]): Tool => ({
  name: tool.name,
  getOpenAIToolSchema: () => tool.getOpenAIToolSchema(),
  create: async (instanceId, kwargs, run) => {
    const created = await tool.create(instanceId, kwargs, run);
    // A call that raised then raises again; its answer is in the record too.
    for (const args of calls) await tool.execute(created.instanceId, args, {}, run).catch(() => {});
    return created;
  },
  execute: (...args) => tool.execute(...args),
  calcReward: (...args) => tool.calcReward(...args),
  release: (...args) => tool.release(...args),
});
