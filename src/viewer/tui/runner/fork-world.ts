import type { DumpRecord } from '../../../core/dump/dump-file.ts';
import type { Tool } from '../../../engine/index.ts';
import { stateBefore } from '../../../replay/worlds/outcomes.ts';
import { recordedTools, type WorldTool, WorldTools } from '../../../replay/worlds/world-tools.ts';
import { worldCalls } from '../rows/world-calls.ts';
import type { FoundForkWorld, WorldWish } from '../state/replay.ts';
import type { RunnerContext } from './context.ts';
import { findWorld, openWorldOf, Shown } from './worlds.ts';

/** The tools of the rollout's container that no tool of the user's replaces. */
function containerTools(runner: RunnerContext, { rollout }: DumpRecord): WorldTool[] {
  if (rollout === null) return [];
  const own = new Set(runner.tools.forFork(rollout.toolSchemas).map(({ name }) => name));
  return recordedTools(rollout, worldCalls(rollout)).filter(({ schema }) => !own.has(schema.function.name));
}

/** Finds out in which image the tools of a container would run; null if the record calls none. */
export async function findForkWorld(
  runner: RunnerContext,
  row: DumpRecord,
  wish: WorldWish | null,
): Promise<FoundForkWorld | null> {
  const names = containerTools(runner, row).map(({ schema }) => schema.function.name);
  return names.length === 0 ? null : { ...(await findWorld(runner, row, 0, wish)), tools: names.join(', ') };
}

/** The other tools of a fork. @param image that of the container; null: it has no tools there */
export function toolsOutside(runner: RunnerContext, row: DumpRecord, image: string | null): readonly Tool[] {
  const inside = new Set(image === null ? [] : containerTools(runner, row).map(({ schema }) => schema.function.name));
  return runner.tools.forFork(row.rollout?.toolSchemas ?? []).filter(({ name }) => !inside.has(name));
}

/** The tools of a container in the state before a turn: the calls before it run first, where their states are not kept. */
export async function worldOfFork(
  runner: RunnerContext,
  row: DumpRecord,
  { turn, wish }: { turn: number; wish: WorldWish | null },
  signal: AbortSignal,
): Promise<WorldTools> {
  const options = { ...(await openWorldOf(runner, row, wish)), signal };
  const count = options.plan.actions.filter((one) => one.turn < turn).length;
  const shown = new Shown(runner, row.locator, options);
  shown.next(0, count - 1);
  try {
    const { chain, drift } = await stateBefore(options, turn, (outcome) => shown.done(outcome, null, count - 1));
    if (drift !== null)
      runner.options.say(`it continues from another state: call ${drift.call + 1} gave another result`, 'info');
    return new WorldTools(options, containerTools(runner, row), async () => chain);
  } finally {
    shown.end();
  }
}
