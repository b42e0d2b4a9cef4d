import type { ToolCall, Turn } from './rollout.ts';

/** One such batch may have lost the results of its other calls. */
const FEWEST_BATCHES = 2;

/**
 * The calls whose result is that of a call beside them: a harness that types several commands into one terminal reads it
 * once. A sign of it: every batch of calls to one tool has exactly one result.
 */
export function sharingCalls(turns: readonly Turn[]): ReadonlySet<ToolCall> {
  const batches = batchesOf(turns).filter((batch) => batch.length > 1);
  const isShared = (batch: readonly ToolCall[]): boolean =>
    batch.filter(({ resultTurn }) => resultTurn !== null).length === 1 &&
    batch.every(({ name }) => name === batch[0]?.name);
  if (batches.length < FEWEST_BATCHES || !batches.every(isShared)) return NONE;
  return new Set(batches.flat().filter(({ resultTurn }) => resultTurn === null));
}

const NONE: ReadonlySet<ToolCall> = new Set();

/** The calls of turns that follow one another without a word or a result between them. */
function batchesOf(turns: readonly Turn[]): ToolCall[][] {
  const batches: ToolCall[][] = [];
  let goesOn = false;
  for (const { toolCalls, role } of turns) {
    if (toolCalls.length === 0) {
      goesOn = false;
      continue;
    }
    // Some writers make each call a separate item.
    if (goesOn && role === 'function_call') batches.at(-1)?.push(...toolCalls);
    else batches.push([...toolCalls]);
    goesOn = true;
  }
  return batches;
}
