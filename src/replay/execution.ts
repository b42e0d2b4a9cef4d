import type { CellRunResult, RunCodeResponse } from '../sandbox/protocol.ts';

/** A sandbox's answer for one program, in the terms of verdicts. */
export interface Execution {
  stdout: string;
  stderr: string;
  /** null: killed, or never ran. Negative: a signal. */
  exitStatus: number | null;
  /** It ran to its end, with any exit status. */
  isFinished: boolean;
  /** Seconds as measured by the sandbox; null if not measured. */
  seconds: number | null;
  /** Processor time in seconds; null if not measured. */
  processor: number | null;
  /** Why it did not run to its end; null if it did. */
  stopped: 'time limit' | 'not compiled' | 'not run' | null;
  /** The last expression's value of a notebook's cell, as text. */
  display: string;
  /** The sandbox's own message if it could not run the program at all. */
  message: string;
}

/** How a program ended: `exit status 1`, `killed (signal 9)`. The latter is typical of a memory limit or an operator. */
export const exitText = (status: number | null): string =>
  status !== null && status < 0 ? `killed (signal ${-status})` : `exit status ${status}`;

/** Compiling is part of the run: its output comes first, and if it fails there is nothing else. */
export function executionOf(answer: RunCodeResponse, processor: number | null = null): Execution {
  const { compile_result: compile, run_result: run } = answer;
  const result = run ?? compile;
  const isLate = result?.status === 'TimeLimitExceeded';
  const isFinished = run?.status === 'Finished';
  return {
    stdout: run?.stdout ?? '',
    stderr: (isFinished ? '' : (compile?.stderr ?? '')) + (run?.stderr ?? ''),
    exitStatus: result?.return_code ?? null,
    isFinished,
    seconds: result?.execution_time ?? null,
    processor,
    stopped: isFinished ? null : isLate ? 'time limit' : compile && !run ? 'not compiled' : 'not run',
    display: '',
    message: answer.message,
  };
}

// biome-ignore lint/complexity/useRegexLiterals: a control character is easier to read in a string.
const COLOURS = new RegExp('\\u001b\\[[0-9;]*m', 'g');

/** A notebook cell. Its traceback goes to stderr, as a script's would, without IPython's colours. */
export function executionOfCell(cell: CellRunResult): Execution {
  const tracebacks = cell.error.map(({ traceback, ename, evalue }) =>
    Array.isArray(traceback) ? traceback.join('\n').replace(COLOURS, '') : `${ename}: ${evalue}`,
  );
  const shown = cell.display.map((data) => (typeof data['text/plain'] === 'string' ? `${data['text/plain']}\n` : ''));
  return {
    stdout: cell.stdout,
    stderr: cell.stderr + tracebacks.join('\n'),
    exitStatus: cell.error.length > 0 ? 1 : 0,
    isFinished: true,
    seconds: null,
    processor: null,
    stopped: null,
    display: shown.join(''),
    message: '',
  };
}
