import type { ErrorKind, Fault } from '../../core/rollout/error-kind.ts';
import { type Rollout, toolCallsOf } from '../../core/rollout/rollout.ts';
import { Answers } from './answers.ts';

/** Outcomes of a call that are not errors but are worth counting. */
export type CallTrouble = ErrorKind | 'empty' | 'cut' | 'one_answer';

/** Calls of one tool in one step, and the failures of one kind. Empty, cut and constant results are not errors. */
export interface ErrorRow<Where> {
  tool: string;
  /** null if all steps are counted together. */
  step: number | null;
  kind: CallTrouble;
  fault: Fault | null;
  exception: string | null;
  count: number;
  /** All calls of the tool in the step. */
  calls: number;
  first: Where;
  /** The text of a tool that gives one answer to every call. */
  answer?: string;
}

/** All calls of one tool. */
export interface ToolRow<Where> {
  tool: string;
  /** The rollouts that called it. */
  rollouts: number;
  calls: number;
  failed: number;
  faults: Record<Fault | 'unknown', number>;
  /** Failures by kind, the most frequent first. */
  kinds: Partial<Record<ErrorKind, number>>;
  /** Results without text, and truncated results; neither is a failure. */
  empty: number;
  cut: number;
  /** The first failure. */
  first: Where | null;
}

const ALL = 'all';

/** Counts the calls of rollouts and their failures. `Where` locates a turn. */
export class ErrorTable<Where> {
  readonly #rows = new Map<string, ErrorRow<Where>>();
  readonly #calls = new Map<string, number>();
  readonly #rollouts = new Map<string, number>();
  /** By tool, then by step; in all steps together under `ALL`. */
  readonly #answers = new Map<string, Map<number | null | typeof ALL, Answers<Where>>>();
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
    const called = new Set<string>();
    for (const { name } of toolCallsOf(rollout)) {
      called.add(name ?? '?');
      const key = `${name ?? '?'}\0${step}`;
      this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1);
      this.calls++;
    }
    for (const tool of called) this.#rollouts.set(tool, (this.#rollouts.get(tool) ?? 0) + 1);
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
    const failed = new Set(rollout.findings.flatMap(({ turn, error }) => (error === undefined ? [] : turn)));
    for (const { name, arguments: args, resultTurn } of toolCallsOf(rollout)) {
      const text = resultTurn === null ? undefined : rollout.turns[resultTurn]?.text;
      // A failure without a text is a failure.
      if (resultTurn === null || text === undefined || failed.has(resultTurn)) continue;
      if (text.trim() === '') count('empty', resultTurn);
      else for (const one of this.#answersOf(name ?? '?', step)) one.add(text, args, where(resultTurn));
    }
  }

  /** Those of the step, and of all steps. */
  #answersOf(tool: string, step: number | null): Answers<Where>[] {
    const bySteps = this.#answers.get(tool) ?? new Map<number | null | typeof ALL, Answers<Where>>();
    this.#answers.set(tool, bySteps);
    return [step, ALL as typeof ALL].map((key) => {
      const answers = bySteps.get(key) ?? new Answers<Where>();
      bySteps.set(key, answers);
      return answers;
    });
  }

  /** Steps in which a tool gave one answer to all calls; if it did so in the whole run, every step with that answer. */
  #constants(): ErrorRow<Where>[] {
    const rows: ErrorRow<Where>[] = [];
    for (const [tool, bySteps] of this.#answers) {
      const always = bySteps.get(ALL)?.one()?.text;
      for (const [step, answers] of bySteps) {
        if (step === ALL) continue;
        const one = always === undefined ? answers.one() : answers.of(always);
        if (one === null) continue;
        const { text: answer, count, first } = one;
        rows.push({ tool, step, kind: 'one_answer', fault: null, exception: null, count, calls: 0, first, answer });
      }
    }
    return rows;
  }

  /** In all steps. */
  callsOf(tool: string): number {
    let calls = 0;
    for (const [key, count] of this.#calls) if (key.startsWith(`${tool}\0`)) calls += count;
    return calls;
  }

  /**
   * All steps together, the tool with the most calls first. A failure that belongs to no call is listed under the tool
   * `?`.
   */
  tools(): ToolRow<Where>[] {
    const tools = new Map<string, ToolRow<Where>>();
    const toolOf = (tool: string): ToolRow<Where> => {
      const faults = { model: 0, tool: 0, world: 0, ours: 0, unknown: 0 };
      const rollouts = this.#rollouts.get(tool) ?? 0;
      const known = tools.get(tool) ?? {
        tool,
        rollouts,
        calls: 0,
        failed: 0,
        faults,
        kinds: {},
        empty: 0,
        cut: 0,
        first: null,
      };
      tools.set(tool, known);
      return known;
    };
    for (const [key, count] of this.#calls) toolOf(key.slice(0, key.lastIndexOf('\0'))).calls += count;
    for (const { tool, kind, fault, count, first } of [...this.#rows.values()].sort((a, b) => b.count - a.count)) {
      const row = toolOf(tool);
      if (kind === 'one_answer') continue;
      if (kind === 'empty' || kind === 'cut') row[kind] += count;
      else {
        row.failed += count;
        row.faults[fault ?? 'unknown'] += count;
        row.kinds[kind] = (row.kinds[kind] ?? 0) + count;
        row.first ??= first;
      }
    }
    return [...tools.values()].sort((a, b) => b.calls - a.calls || compareTexts(a.tool, b.tool));
  }

  /** By tool and step, the most frequent first. */
  rows(): ErrorRow<Where>[] {
    return [...this.#rows.values(), ...this.#constants()]
      .map((row) => ({ ...row, calls: this.#calls.get(`${row.tool}\0${row.step}`) ?? 0 }))
      .sort((a, b) => compareTexts(a.tool, b.tool) || (a.step ?? -1) - (b.step ?? -1) || b.count - a.count);
  }
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
