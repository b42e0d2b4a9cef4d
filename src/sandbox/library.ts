/**
 * SandboxFusion's client and an embedded server: `import { … } from 'rollout-viewer/sandbox'`.
 *
 * The functions with an underscore have the names and arguments of the Python package `sandbox_fusion`.
 */

import { mapOrdered } from '../core/async/map-ordered.ts';
import { errorMessage } from '../core/text/thrown.ts';
import { type ClientOptions, SandboxClient } from './client.ts';
import type {
  EvalResult,
  GetMetricsFunctionInput,
  GetMetricsInput,
  GetPromptByIdInput,
  GetPromptsInput,
  ProblemId,
  Prompt,
  RunCodeInput,
  RunCodeResponse,
  RunJupyterInput,
  RunJupyterResponse,
  SubmitInput,
} from './protocol.ts';

export { Limiter } from '../core/async/limiter.ts';
export { checkCorrectness } from './check-correctness.ts';
export { SandboxApiError, SandboxClient } from './client.ts';
export { computeScore } from './compute-score.ts';
export type * from './protocol.ts';
export {
  createRunner,
  type SandboxOptions,
  type SandboxRunner,
  type SandboxRunnerOptions,
  type SandboxServer,
  startSandbox,
} from './server/index.ts';

/** Validates nothing and keeps its argument: these classes let calls be written as in the Python package. */
function requestClass<T extends object>(): new (fields: T) => T {
  return class {
    constructor(fields: T) {
      Object.assign(this, fields);
    }
  } as unknown as new (
    fields: T,
  ) => T;
}

export const RunCodeRequest: new (fields: RunCodeInput) => RunCodeInput = requestClass<RunCodeInput>();
export const RunJupyterRequest: new (fields: RunJupyterInput) => RunJupyterInput = requestClass<RunJupyterInput>();
export const SubmitRequest: new (fields: SubmitInput) => SubmitInput = requestClass<SubmitInput>();

let client: SandboxClient | null = null;
let options: ClientOptions = {};
const current = (): SandboxClient => {
  client ??= new SandboxClient(options);
  return client;
};

/** Sets the server for the functions below; default SANDBOX_FUSION_ENDPOINT, then http://localhost:8080. @throws TypeError if it is not a URL */
export function set_endpoint(endpoint: string, more: Omit<ClientOptions, 'endpoint'> = {}): void {
  options = { ...more, endpoint };
  client = new SandboxClient(options);
}

/** The package has one server for code and one for data sets; here one server answers both. */
export const set_sandbox_endpoint = set_endpoint;
export const set_dataset_endpoint = set_endpoint;

export interface CallSettings {
  signal?: AbortSignal;
  /** Total seconds to wait for the answer. */
  client_timeout?: number;
}

const call = ({ signal, client_timeout }: CallSettings) => ({
  ...(signal ? { signal } : {}),
  ...(client_timeout === undefined ? {} : { timeoutSeconds: client_timeout }),
});

export const run_code = (request: RunCodeInput, settings: CallSettings = {}): Promise<RunCodeResponse> =>
  current().runCode(request, call(settings));
export const run_jupyter = (request: RunJupyterInput, settings: CallSettings = {}): Promise<RunJupyterResponse> =>
  current().runJupyter(request, call(settings));
export const submit = (request: SubmitInput, settings: CallSettings = {}): Promise<EvalResult> =>
  current().submit(request, call(settings));
export const get_prompts = (request: GetPromptsInput, settings: CallSettings = {}): Promise<Prompt[]> =>
  current().getPrompts(request, call(settings));
export const get_prompt_by_id = (request: GetPromptByIdInput, settings: CallSettings = {}): Promise<Prompt> =>
  current().getPromptById(request, call(settings));
export const list_datasets = (settings: CallSettings = {}): Promise<string[]> => current().listDatasets(call(settings));
export const list_ids = (request: GetPromptsInput, settings: CallSettings = {}): Promise<ProblemId[]> =>
  current().listIds(request, call(settings));
export const get_metrics = (request: GetMetricsInput, settings: CallSettings = {}): Promise<Record<string, unknown>> =>
  current().getMetrics(request, call(settings));
export const get_metrics_function = (
  request: GetMetricsFunctionInput,
  settings: CallSettings = {},
): Promise<string | null> => current().getMetricsFunction(request, call(settings));

/** Calls `fn` with each list of arguments, `concurrency` at a time; results are in the order of the arguments. */
export async function run_concurrent<Args extends unknown[], Result>(
  fn: (...args: Args) => Promise<Result>,
  { args, concurrency = 64 }: { args: readonly Args[]; concurrency?: number },
): Promise<Result[]> {
  return mapOrdered(args, (one) => fn(...one), { concurrency });
}

/** Every call is asynchronous in JavaScript, so the package's names for the awaited form are the same functions. */
export const run_code_async = run_code;
export const run_jupyter_async = run_jupyter;
export const submit_async = submit;
export const get_prompts_async = get_prompts;
export const get_prompt_by_id_async = get_prompt_by_id;
export const list_datasets_async = list_datasets;
export const list_ids_async = list_ids;
export const get_metrics_async = get_metrics;
export const get_metrics_function_async = get_metrics_function;

/** The same function under the package's other name; each list of arguments is passed unchanged. */
export const run_concurrent_pure = run_concurrent;

/** Like `submit`, but if the server fails the answer is a rejection with the reason in `extra.error`. @throws only the reason of an aborted signal */
export async function submit_safe(request: SubmitInput, settings: CallSettings = {}): Promise<EvalResult> {
  try {
    return await submit(request, settings);
  } catch (error) {
    if (settings.signal?.aborted) throw error;
    const unknown = { full_code: null, test_code: null, extracted_type: null };
    const extra = { error: errorMessage(error) };
    return { id: request.id, accepted: false, extracted_code: '', tests: [], ...unknown, extra };
  }
}
export const submit_safe_async = submit_safe;

/** Your word for each way a run can end; a missing one falls back to that of Failed. */
export interface SummaryMapping {
  Success: string;
  Failed: string;
  CompileFailed?: string;
  CompileTimeout?: string;
  RunFailed?: string;
  RunTimeout?: string;
}

/** One word for a run: how compilation ended if nothing ran, else how the program did. */
export function summary_run_code_result(
  { status, compile_result: compile, run_result: run }: RunCodeResponse,
  mapping: SummaryMapping = { Success: 'Success', Failed: 'Failed' },
): string {
  const { Success, Failed, CompileFailed, CompileTimeout, RunFailed, RunTimeout } = mapping;
  const part = run ?? compile;
  if (!part) return status === 'Success' ? Success : Failed;
  const isCompiler = part !== run;
  if (part.status === 'TimeLimitExceeded') return (isCompiler ? CompileTimeout : RunTimeout) ?? Failed;
  if (part.status !== 'Finished' || part.return_code !== 0) return (isCompiler ? CompileFailed : RunFailed) ?? Failed;
  return isCompiler && status !== 'Success' ? Failed : Success;
}
