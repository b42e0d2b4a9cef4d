// verl's check_correctness: runs code against the cases of one problem, one sandbox run per case.
import { linked } from '../core/async/abort.ts';
import type { Limiter } from '../core/async/limiter.ts';
import { mapOrdered } from '../core/async/map-ordered.ts';
import { SandboxApiError } from './api.ts';
import { functionCase } from './function-case.ts';
import { isLanguage, type RunCodeInput, type RunCodeResponse } from './protocol.ts';
import { type CaseMetadata, type CaseResult, judge } from './verdict.ts';

/** The cases as verl's datasets hold them: texts, or lists of arguments for `fn_name`. */
interface InOuts {
  inputs?: unknown[];
  outputs?: unknown[];
  fn_name?: string | null;
  /** Code appended to the solution, one per case; without inputs and outputs, these alone are the cases. */
  assert_case?: string[];
}

/** Runs one program: a client's or a server's runCode. */
export type Run = (request: RunCodeInput, call: { signal: AbortSignal }) => Promise<RunCodeResponse>;

export interface CheckOptions {
  /** Seconds, for compiling and running separately. */
  timeout?: number;
  memoryLimitMb?: number;
  language?: string;
  /** verl's concurrent_semaphore. */
  limiter?: Limiter | undefined;
  /** Cases in flight at once; verl: 32, or 5 per core if that is more. */
  concurrency?: number;
  signal?: AbortSignal | undefined;
}

export interface CaseCheck {
  results: CaseResult[];
  metadata: (CaseMetadata | { error: string })[];
}

/**
 * One result per case, in order. After the first case that fails to compile, the later ones are not run (−4,
 * compile_error_skipped): they share the code. Never rejects but for an aborted signal.
 */
export async function checkCorrectness(
  run: Run,
  inOuts: unknown,
  generation: string,
  options: CheckOptions = {},
): Promise<CaseCheck> {
  const cases = readCases(inOuts);
  if (cases === undefined) return { results: [-1], metadata: [{ error: 'Invalid input/output data' }] };
  const { inputs, outputs, fnName, asserts } = cases;
  if (inputs.length !== outputs.length) {
    const error = `Input/output count mismatch: ${inputs.length} inputs, ${outputs.length} outputs`;
    return { results: inputs.map(() => -1), metadata: inputs.map(() => ({ error })) };
  }
  const { concurrency = 32, signal } = options;
  const later = inputs.map(() => new AbortController());
  let firstCompileError = Number.POSITIVE_INFINITY;
  const judged = await mapOrdered(
    inputs,
    async (input, all, index) => {
      const shown = { index, input, expected: outputs[index] ?? null };
      const assertion = asserts?.[index];
      const code = assertion ? `${generation}\n\n${assertion}` : generation;
      if (index > firstCompileError) return judge(shown, null, null);
      const { abort, unlink } = linked(all, later[index]?.signal);
      const one = await runCase(run, code, fnName, shown, options, abort.signal).finally(unlink);
      if (one.result === -4 && index < firstCompileError) {
        firstCompileError = index;
        for (const other of later.slice(index + 1)) other.abort();
      }
      return one;
    },
    { concurrency, signal },
  );
  const results = judged.map(({ result }, index) => (index > firstCompileError ? -4 : result));
  const metadata = judged.map(({ metadata: one }, index) =>
    index > firstCompileError ? { ...one, api_request_error: null, status: 'compile_error_skipped' as const } : one,
  );
  return { results, metadata };
}

type ShownCase = { index: number; input: string | null; expected: string | null };

async function runCase(
  run: Run,
  code: string,
  fnName: string | undefined,
  shown: ShownCase,
  options: CheckOptions,
  signal: AbortSignal,
): Promise<ReturnType<typeof judge>> {
  const { timeout = 10, memoryLimitMb = 1024, language = 'python', limiter } = options;
  if (!isLanguage(language)) return judge(shown, null, `Unsupported language: ${language}`);
  const request: RunCodeInput = {
    code: fnName !== undefined && language === 'python' ? functionCase(code, fnName) : code,
    language,
    stdin: shown.input,
    compile_timeout: timeout,
    run_timeout: timeout,
    memory_limit_MB: memoryLimitMb,
  };
  const ask = (stop: AbortSignal) => run(request, { signal: stop });
  try {
    return judge(shown, await (limiter ? limiter.run(ask, { signal }) : ask(signal)), null);
  } catch (error) {
    options.signal?.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SandboxApiError) return judge(shown, null, `API Call Failed: ${message}`);
    const { result, metadata } = judge(shown, null, `Internal execution error: ${message}`);
    return { result, metadata: { ...metadata, status: 'internal_error' } };
  }
}

interface Cases {
  inputs: (string | null)[];
  outputs: (string | null)[];
  fnName: string | undefined;
  asserts: string[] | undefined;
}

function readCases(inOuts: unknown): Cases | undefined {
  if (typeof inOuts !== 'object' || inOuts === null) return undefined;
  const { inputs, outputs, fn_name, assert_case } = inOuts as InOuts;
  const asserts = Array.isArray(assert_case) ? assert_case.map(String) : undefined;
  const fnName = typeof fn_name === 'string' && fn_name !== '' ? fn_name : undefined;
  const given = inputs ?? asserts?.map(() => '');
  const wanted = outputs ?? asserts?.map(() => null);
  if (!Array.isArray(given) || !Array.isArray(wanted)) return undefined;
  return {
    inputs: given.map((input) =>
      fnName !== undefined && Array.isArray(input) ? input.map((one) => JSON.stringify(one)).join('\n') : asText(input),
    ),
    outputs: wanted.map(asText),
    fnName,
    asserts,
  };
}

/** Anything but text is written as the function wrapper's json.dumps would print it. */
function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : pythonJson(value);
}

function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${pythonJson(member)}`)
    .join(', ')}}`;
}
