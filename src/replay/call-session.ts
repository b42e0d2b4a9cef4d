import type { ReplayBackend } from './backend.ts';
import { type Execution, executionOfCell } from './execution.ts';
import type { CallCode, PlannedCall } from './plan.ts';

/** The outcome of one line. */
export interface CellAnswer extends Pick<Execution, 'stdout' | 'stderr' | 'display'> {
  failed: boolean;
}

/**
 * A prompt at the state before a call: the calls that share the state run first, then everything typed so far. Each line runs all of it
 * again in a throwaway sandbox, so nothing is left behind and random values are drawn again. A line that fails is not kept.
 */
export class CallSession {
  readonly #plan: PlannedCall;
  readonly #code: CallCode;
  readonly #backend: ReplayBackend;
  #typed: string[] = [];

  /** @throws Error for a call without Python state */
  constructor(plan: PlannedCall, backend: ReplayBackend) {
    const { code, name, skip } = plan;
    if (code?.language !== 'python')
      throw new Error(
        `${name ?? 'the call'} runs ${code?.language ?? 'no code'}: a prompt needs Python${skip === null ? '' : ` (${skip})`}`,
      );
    this.#plan = plan;
    this.#code = code;
    this.#backend = backend;
  }

  /** Calls that run first. */
  get before(): readonly PlannedCall[] {
    return this.#plan.predecessors ?? [];
  }

  get code(): string {
    return this.#code.code;
  }

  async run(line: string, signal: AbortSignal): Promise<CellAnswer> {
    const seconds = this.#code.timeout;
    const earlier = this.before.flatMap(({ code }) => code?.code ?? []);
    const cells = [...earlier, ...this.#typed, line];
    const answer = await this.#backend.runJupyter(
      { cells, cell_timeout: seconds, total_timeout: seconds * cells.length },
      { signal },
    );
    const cell = answer.cells[cells.length - 1];
    if (cell === undefined) {
      const isLate = answer.driver?.status === 'TimeLimitExceeded';
      const stderr = isLate ? `no end after ${seconds} s` : answer.message || 'the interpreter ended before this line';
      return { stdout: '', stderr, display: '', failed: true };
    }
    const { stdout, stderr, display, exitStatus } = executionOfCell(cell);
    const failed = exitStatus !== 0;
    if (!failed) this.#typed.push(line);
    return { stdout, stderr, display, failed };
  }
}
