// The meaning of a sandbox's answer for a test case: verl's words and numeric codes
// (verl/utils/reward_score/sandbox_fusion/utils.py), so that scores can be compared with a training run's.
import type { RunCodeResponse } from './protocol.ts';

/** true = passed, false = wrong answer, −1 the sandbox failed, −2 runtime error, −3 timeout, −4 compile error. */
export type CaseResult = boolean | -1 | -2 | -3 | -4;

type CaseStatus =
  | 'success'
  | 'wrong_answer'
  | 'compile_error'
  | 'compile_timeout'
  | 'compile_error_skipped'
  | 'runtime_error'
  | 'timeout'
  | 'sandbox_error'
  | 'api_error'
  | 'internal_error'
  | 'unknown_failure'
  | 'unknown_failure_state'
  | 'unexpected_success_state'
  | 'unknown_api_state'
  | `unknown_api_status_${string}`;

/** The keys are verl's; durations in seconds. */
export interface CaseMetadata {
  case_index: number;
  input: string | null;
  expected_output: string | null;
  api_request_error: string | null;
  api_response: RunCodeResponse | null;
  status: CaseStatus;
  stdout: string | null;
  stderr: string | null;
  exit_code: number | null;
  duration: number | null;
  compile_duration: number | null;
  compile_stderr: string | null;
  api_status: string | null;
  compile_status: string | null;
  run_status: string | null;
}

export interface JudgedCase {
  index: number;
  input: string | null;
  /** null: any output is right. */
  expected: string | null;
}

/** Exactly one of answer and error is given; otherwise the state is unknown. */
export function judge(
  { index, input, expected }: JudgedCase,
  answer: RunCodeResponse | null,
  error: string | null,
): { result: CaseResult; metadata: CaseMetadata } {
  const compile = answer?.compile_result ?? null;
  const run = answer?.run_result ?? null;
  const [result, status] = verdict(answer, error, expected);
  return {
    result,
    metadata: {
      case_index: index,
      input,
      expected_output: expected,
      api_request_error: error,
      api_response: answer,
      status,
      stdout: run?.stdout ?? null,
      stderr: run?.stderr ?? null,
      exit_code: run?.return_code ?? null,
      duration: run?.execution_time ?? null,
      compile_duration: compile?.execution_time ?? null,
      compile_stderr: compile?.stderr ?? null,
      api_status: answer?.status ?? null,
      compile_status: compile?.status ?? null,
      run_status: run?.status ?? null,
    },
  };
}

function verdict(
  answer: RunCodeResponse | null,
  error: string | null,
  expected: string | null,
): [CaseResult, CaseStatus] {
  if (error !== null) return [-1, 'api_error'];
  if (answer === null) return [-1, 'unknown_api_state'];
  const { compile_result: compile, run_result: run } = answer;
  switch (answer.status) {
    case 'SandboxError':
      return [-1, 'sandbox_error'];
    case 'Failed':
      if (compile?.status === 'TimeLimitExceeded') return [-4, 'compile_timeout'];
      if (compile && (compile.status === 'Error' || compile.return_code !== 0)) return [-4, 'compile_error'];
      if (!run) return [-1, 'unknown_failure_state'];
      if (run.status === 'TimeLimitExceeded') return [-3, 'timeout'];
      if (run.status === 'Error' || run.return_code !== 0) return [-2, 'runtime_error'];
      return [-1, 'unknown_failure'];
    case 'Success':
      if (run?.status !== 'Finished') return [-1, 'unexpected_success_state'];
      return expected === null || sameOutput(run.stdout ?? '', expected) ? [true, 'success'] : [false, 'wrong_answer'];
    default:
      return [-1, `unknown_api_status_${String(answer.status)}`];
  }
}

/** verl compares the whole text, ignoring only trailing newlines. */
const sameOutput = (actual: string, expected: string) => withoutLastNewlines(actual) === withoutLastNewlines(expected);

/** A pattern that ends in `$` would restart at every newline of the text. */
function withoutLastNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 10) end--;
  return text.slice(0, end);
}
