import { printJson } from '../json/print.ts';
import { itemAt } from '../lists/at.ts';
import type { Rollout, ToolCall, Turn } from './rollout.ts';

/** Calls of one tool with the same arguments in one history, in order. */
export interface SameCalls {
  name: string | null;
  calls: { call: ToolCall; turn: number }[];
}

let known: { turns: readonly Turn[]; most: SameCalls | null } | null = null;

/**
 * The call that the response repeats most often with the same arguments; null without a call. Cached, because a check
 * and a fact both need it.
 */
export function mostRepeated({ turns, responseTurn }: Pick<Rollout, 'turns' | 'responseTurn'>): SameCalls | null {
  if (known?.turns !== turns) known = { turns, most: mostIn(turns, responseTurn) };
  return known.most;
}

function mostIn(turns: readonly Turn[], responseTurn: number): SameCalls | null {
  const same = new Map<string, SameCalls>();
  let most: SameCalls | null = null;
  for (let i = responseTurn; i < turns.length; i++) {
    const { toolCalls, context = 0 } = itemAt(turns, i);
    for (const call of toolCalls) {
      const key = `${context} ${call.name} ${argumentsText(call)}`;
      const known = same.get(key) ?? { name: call.name, calls: [] };
      if (known.calls.length === 0) same.set(key, known);
      known.calls.push({ call, turn: i });
      if (most === null || known.calls.length > most.calls.length) most = known;
    }
  }
  return most;
}

const argumentsText = ({ raw, arguments: given }: ToolCall): string => {
  if (raw !== '') return raw.trim();
  return given === null ? '' : printJson(given);
};

/** How many of the calls had the same result as an earlier one: repeating a call after a change does not count. */
export function sameAnswers({ calls }: SameCalls, turns: readonly Turn[]): number {
  const counts = new Map<string, number>();
  let most = 0;
  for (const { call } of calls) {
    const text = call.resultTurn === null ? null : turns[call.resultTurn]?.text;
    if (text == null) continue;
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    most = Math.max(most, count);
  }
  return most;
}
