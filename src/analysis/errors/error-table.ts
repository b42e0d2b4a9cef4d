import type { ErrorKind, Fault } from '../../rollout/error-kind.ts';
import { type Rollout, toolCallsOf } from '../../rollout/rollout.ts';

/** Outcomes of a call that are no errors, and are worth a count. */
export type CallTrouble = ErrorKind | 'empty' | 'cut';

/** Calls of one tool in one step, and what went wrong with those of one kind; empty and cut results are no errors. */
export interface ErrorRow<Where> {
  tool: string;
  /** null where steps are not told apart. */
  step: number | null;
  kind: CallTrouble;
  fault: Fault | null;
  exception: string | null;
  count: number;
  /** All calls of the tool in the step. */
  calls: number;
  first: Where;
}

/** Counts the calls of rollouts and what went wrong with them. `Where` says where a turn lies. */
export class ErrorTable<Where> {
  readonly #rows = new Map<string, ErrorRow<Where>>();
  readonly #calls = new Map<string, number>();
  calls = 0;

  add(rollout: Rollout, step: number | null, where: (turn: number) => Where): void {
    const byResult = new Map<number, string>();
    const byTurn = new Map<number, string>();
    for (const turn of rollout.turns)
      for (const { name, resultTurn, error } of turn.toolCalls) {
        const tool = name ?? '?';
        if (resultTurn !== null) byResult.set(resultTurn, tool);
        if (error !== null) byTurn.set(turn.index, tool);
      }
    for (const { name } of toolCallsOf(rollout)) {
      const key = `${name ?? '?'}\0${step}`;
      this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1);
      this.calls++;
    }
    const count = (kind: CallTrouble, turn: number, fault: Fault | null = null, exception: string | null = null) => {
      const tool = byResult.get(turn) ?? byTurn.get(turn) ?? '?';
      const key = [tool, step, kind, fault, exception].join('\0');
      const row = this.#rows.get(key);
      if (row !== undefined) row.count++;
      else this.#rows.set(key, { tool, step, kind, fault, exception, count: 1, calls: 0, first: where(turn) });
    };
    for (const { check, turn, error } of rollout.findings) {
      if (turn === null) continue;
      if (error !== undefined) count(error.kind, turn, error.fault, error.exception);
      else if (check === 'tool_cut') count('cut', turn);
    }
    for (const turn of byResult.keys()) if (rollout.turns[turn]?.text.trim() === '') count('empty', turn);
  }

  /** In all steps. */
  callsOf(tool: string): number {
    let calls = 0;
    for (const [key, count] of this.#calls) if (key.startsWith(`${tool}\0`)) calls += count;
    return calls;
  }

  /** By tool and step, the most frequent first. */
  rows(): ErrorRow<Where>[] {
    return [...this.#rows.values()]
      .map((row) => ({ ...row, calls: this.#calls.get(`${row.tool}\0${row.step}`) ?? 0 }))
      .sort((a, b) => compare(a.tool, b.tool) || (a.step ?? -1) - (b.step ?? -1) || b.count - a.count);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
