// /run_code in terms of a backend: the request's fields to a job, the outcome to upstream's status rules.
import type { CommandRunResult, RunCode, RunCodeRequest, RunCodeResponse, RunStatus } from '../protocol.ts';
import { type Backend, DEFAULT_LIMITS, type Limits, SandboxFault } from './backends/backend.ts';
import { decodeFiles } from './paths.ts';

export type { RunCode } from '../protocol.ts';

/** What the datasets and sessions are given: each call is one program on this backend. Rejects only when aborted. */
export function runCodeOn(backend: Backend, limits: Limits = DEFAULT_LIMITS): RunCode {
  return async (request, signal) => {
    try {
      const broken = brokenTimeout(request);
      if (broken) return response({ compile: null, run: broken, files: new Map() });
      return response(
        await backend.execute(
          {
            language: request.language,
            code: request.code,
            stdin: request.stdin,
            files: decodeFiles(request.files),
            fetchFiles: request.fetch_files,
            compileTimeout: request.compile_timeout,
            runTimeout: request.run_timeout,
            limits: { ...limits, memoryMb: request.memory_limit_MB > 0 ? request.memory_limit_MB : limits.memoryMb },
          },
          signal,
        ),
      );
    } catch (error) {
      signal?.throwIfAborted();
      const reason = error instanceof SandboxFault || error instanceof Error ? error.message : String(error);
      return failure(`exception on running code ${request.code}: ${reason} None`);
    }
  };
}

/** Upstream fails on a NaN while it starts the command, and answers so. */
function brokenTimeout({ language, run_timeout }: RunCodeRequest): CommandRunResult | null {
  if (!Number.isNaN(run_timeout)) return null;
  const stderr = `exception on running command ${language}: cannot convert float NaN to integer | None`;
  return { status: 'Error', execution_time: null, return_code: null, stdout: null, stderr };
}

interface Results {
  compile: CommandRunResult | null;
  run: CommandRunResult | null;
  files: Map<string, Buffer>;
}

function response({ compile, run, files }: Results): RunCodeResponse {
  const { status, message } = judge([compile, run]);
  return {
    status,
    message,
    compile_result: compile,
    run_result: run,
    executor_pod_name: process.env.MY_POD_NAME ?? null,
    files: encodeFiles(files),
  };
}

export const encodeFiles = (files: Map<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...files].map(([name, content]) => [name, content.toString('base64')]));

export const failure = (message: string): RunCodeResponse => ({
  status: 'SandboxError',
  message,
  compile_result: null,
  run_result: null,
  executor_pod_name: process.env.MY_POD_NAME ?? null,
  files: {},
});

/** Upstream's rule, in its order; what a program writes to stderr never makes it fail. */
function judge(results: readonly (CommandRunResult | null)[]): { status: RunStatus; message: string } {
  const error = results.find((result) => result?.status === 'Error');
  if (error) return { status: 'SandboxError', message: error.stderr ?? '' };
  const failed = results.some((result) => result?.status === 'TimeLimitExceeded' || (result?.return_code ?? 0) !== 0);
  return { status: failed ? 'Failed' : 'Success', message: '' };
}
