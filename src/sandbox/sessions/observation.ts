// The observation that a model sees of an action.
import type { EvalTestCase, RunCodeResponse } from '../protocol.ts';
import type { SessionProgram } from './action.ts';
import { RUN_SECONDS } from './workspace.ts';

/** How programs of these languages read their input. */
const READS_INPUT =
  /\b(?:input\s*\(|stdin\b|open\(0\b|fileinput\b|cin\b|scanf\b|getline\b|gets\b|fgets\b|readline\b|readLine\b|Scanner\b|System\.in\b|Console\.Read|read\s)/;
const DEFINES = /^\s*(?:async\s+def|def|class)\s/m;

/**
 * Whether code is a solution of the session's problem rather than a trial: a program that reads input where the tests
 * feed one, a definition where they call one.
 */
export function judgedBySubmit({ code, language }: SessionProgram, wantsProgram: boolean): boolean {
  if (wantsProgram) return READS_INPUT.test(code);
  return language !== 'python' || DEFINES.test(code);
}

/** How many tests passed, and why the first one did not; never what a test holds, which the model shall not see. */
export function verdictOf(tests: readonly EvalTestCase[]): string {
  const failed = tests.find((test) => !test.passed);
  const passed = tests.filter((test) => test.passed).length;
  const count = `${passed} of ${tests.length} tests passed`;
  if (failed === undefined) return `Accepted: ${count}.`;
  const { compile_result: compile, run_result: run } = failed.exec_info;
  const notCompiled = compile && (compile.status !== 'Finished' || compile.return_code !== 0);
  const result = notCompiled ? compile : run;
  const said = result?.stderr?.trim() ? `\n${result.stderr.trim().slice(-2000)}` : '';
  if (notCompiled) return `Not accepted: it does not compile.${said}`;
  if (result?.status === 'TimeLimitExceeded') return `Not accepted: ${count}; the first that failed ran out of time.`;
  if (result && result.return_code !== 0)
    return `Not accepted: ${count}; the first that failed ended with an error.${said}`;
  return `Not accepted: ${count}; the first that failed has another answer.`;
}

/** The program's output, stdout first, and the reason where it did not end well. */
export function observationOf({ status, message, compile_result: compile, run_result: run }: RunCodeResponse): string {
  if (status === 'SandboxError') return `Error: ${message}`;
  const compiled = compile && (compile.return_code !== 0 || run === null);
  const result = compiled ? compile : run;
  const text = `${result?.stdout ?? ''}${result?.stderr ?? ''}`;
  if (result?.status === 'TimeLimitExceeded') return `${text}\nError: timed out after ${RUN_SECONDS} s`.trimStart();
  const code = result?.return_code ?? 0;
  if (code < 0) return `${text}\nError: killed (signal ${-code})`.trimStart();
  if (status === 'Failed' && text.trim() === '') return `Error: exit code ${code}`;
  return text;
}
