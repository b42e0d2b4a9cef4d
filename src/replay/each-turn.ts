import { type Rollout, type Turn, toolCallsOf } from '../core/rollout/rollout.ts';
import { fateOf, type TurnFate } from './fate.ts';
import { type Branch, type ForkOptions, forkRollout } from './fork.ts';

/** The turns in which the model decided something: those it wrote in the main history. */
export const decidingTurns = ({ turns, responseTurn }: Rollout): Turn[] =>
  turns.filter(({ role, index, context = 0 }) => role === 'assistant' && index >= responseTurn && context === 0);

/** The estimated cost, assuming branches as long as the record from their turns on. */
export interface DecideCost {
  branches: number;
  /** Characters that the model would write; about four to a token. */
  written: number;
  calls: number;
}

export function decideCost(rollout: Rollout, turns: readonly number[], n: number): DecideCost {
  const own = decidingTurns(rollout);
  const calls = toolCallsOf(rollout).length;
  const cost = { branches: turns.length * n, written: 0, calls: 0 };
  for (const turn of turns) {
    const rest = own.filter(({ index }) => index >= turn);
    cost.written += n * rest.reduce((sum, { text }) => sum + text.length, 0);
    cost.calls += n * rest.reduce((sum, { toolCalls }) => sum + toolCalls.length, 0);
  }
  return { ...cost, calls: Math.min(cost.calls, cost.branches * calls) };
}

export interface DecideOptions extends Omit<ForkOptions, 'turn' | 'edits'> {
  turns: readonly number[];
  success?: number;
  onBranch?: (branch: Branch) => void;
}

/**
 * Makes n branches from each turn, one turn after the other, and yields how they ended. It shows where outcomes diverge and claims no
 * cause.
 */
export async function* decideTurns({
  turns,
  success,
  onBranch,
  ...options
}: DecideOptions): AsyncGenerator<TurnFate & { failed: number }> {
  for (const turn of turns) {
    if (options.signal?.aborted) return;
    const scores: number[] = [];
    let failed = 0;
    for await (const branch of forkRollout({ ...options, turn })) {
      onBranch?.(branch);
      if (branch.score === null) failed++;
      else scores.push(branch.score);
    }
    yield { ...fateOf(turn, scores, success), failed };
  }
}
