// Maps /run_code to a backend: the request's fields become a job, and the outcome follows upstream's status rules.
import type { CommandRunResult, RunCode, RunCodeRequest, RunCodeResponse, RunStatus } from '../protocol.ts';
import { RequestError } from '../request-error.ts';
import { type Backend, DEFAULT_RUN_LIMITS, type RunLimits, SandboxFault } from './backends/backend.ts';
import { RUNNERS, temporaryName } from './backends/languages.ts';
import { decodeFiles } from './paths.ts';

export type { RunCode } from '../protocol.ts';

export interface ProgramOptions {
  limits: RunLimits;
  /** In seconds: no request may ask for more. */
  maxRunTimeout: number;
  /** Added to the backend's name in each answer if no sandbox ran the program; otherwise omitted. */
  weak?: string;
}

/** A request with an endless timeout would hold its place forever. */
export const DEFAULT_RUN_OPTIONS: ProgramOptions = { limits: DEFAULT_RUN_LIMITS, maxRunTimeout: 600 };

export type Executing = Pick<Backend, 'execute'>;

/**
 * The runner for datasets and sessions: each call is one program on this backend. Rejects only when aborted, or
 * with a RequestError if the server is too full to run it at all.
 */
export function runCodeOn(
  backend: Executing,
  { limits, maxRunTimeout, weak }: ProgramOptions = DEFAULT_RUN_OPTIONS,
): RunCode {
  const pod = weak ?? process.env.MY_POD_NAME ?? null;
  return async (request, signal, wishes) => {
    try {
      const cut = Math.max(request.run_timeout, request.compile_timeout) > maxRunTimeout;
      const surrogate = loneSurrogate(request.code);
      if (surrogate) throw new SandboxFault(surrogate);
      const broken = brokenTimeout(request);
      if (broken) return response({ compile: null, run: broken, files: new Map() }, pod);
      const outcome = await backend.execute(
        {
          language: request.language,
          code: request.code,
          stdin: request.stdin,
          files: decodeFiles(request.files),
          fetchFiles: wantedFiles(request.fetch_files),
          compileTimeout: Math.min(request.compile_timeout, maxRunTimeout),
          runTimeout: Math.min(request.run_timeout, maxRunTimeout),
          limits: { ...limits, memoryMb: memoryOf(request.memory_limit_MB, limits) },
          ...wishes,
        },
        signal,
      );
      const late = request.run_timeout > 0 ? outcome : { ...outcome, run: outcome.run && expired(outcome.run) };
      const answer = response(late, pod);
      // One that ended by itself never reached the ceiling.
      const isLate = [late.compile, late.run].some((result) => result?.status === 'TimeLimitExceeded');
      return cut && isLate ? { ...answer, message: answer.message || cutTimeout(maxRunTimeout) } : answer;
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RequestError) throw error;
      const reason = error instanceof SandboxFault || error instanceof Error ? error.message : String(error);
      return failedResponse(`exception on running code ${request.code}: ${reason} None`, pod);
    }
  };
}

/** More than any machine has, yet still a whole number of bytes. */
const MOST_MEMORY_MB = 2 ** 32;

export const memoryOf = (asked: number, { memoryMb }: RunLimits): number | null =>
  asked > 0 ? Math.min(asked, MOST_MEMORY_MB) : memoryMb;

const MOST_FETCHED = 1000;

/** Without duplicates. @throws {SandboxFault} for more files than a run may return: each takes a moment */
export function wantedFiles(names: readonly string[]): string[] {
  const wanted = [...new Set(names)];
  if (wanted.length <= MOST_FETCHED) return wanted;
  throw new SandboxFault(`fetch_files: ${wanted.length} files are too many; the limit is ${MOST_FETCHED}`);
}

export const cutTimeout = (maxRunTimeout: number): string =>
  `the time limits were cut to ${maxRunTimeout} s, the most that this server gives (--max-run-timeout)`;

/**
 * Python's message for text that is not valid Unicode (a lone surrogate), or null.
 * @param escaped the text is JSON as JSON.stringify writes it, with lone surrogates, and only them, as \\uXXXX
 */
export function loneSurrogate(text: string, escaped = false): string | null {
  if (escaped && !text.includes('\\ud')) return null;
  const half = escaped
    ? /(?<=^|[^\\])(?:\\\\)*\\u(d[89a-f][0-9a-f]{2})/.exec(text)
    : /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.exec(text);
  if (!half) return null;
  const code = half[1] ?? half[0].charCodeAt(0).toString(16);
  const position = codePoints(text, half.index) + (half[1] ? half[0].length - 6 : 0);
  return `'utf-8' codec can't encode character '\\u${code}' in position ${position}: surrogates not allowed`;
}

/** Counts without a copy: a list of the characters of 110 MB does not fit into the heap. */
function codePoints(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; count++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count;
}

/** Upstream fails on a NaN while it starts the command, and answers like this. */
function brokenTimeout({ language, run_timeout }: RunCodeRequest): CommandRunResult | null {
  if (!Number.isNaN(run_timeout)) return null;
  const directory = `/tmp/${temporaryName()}`;
  const fresh = (extension: string) => `${directory}/${temporaryName()}${extension}`;
  const command = RUNNERS[language]?.prepare('', { fresh, files: [], linkFlags: '' }).run ?? language;
  const stderr = `exception on running command ${command}: cannot convert float NaN to integer | None`;
  return { status: 'Error', execution_time: null, return_code: null, stdout: null, stderr };
}

/** A run that was given no time is late, whatever it printed before it was stopped. */
const expired = (run: CommandRunResult): CommandRunResult => ({
  ...run,
  status: 'TimeLimitExceeded',
  return_code: null,
  stdout: '',
  stderr: '',
});

interface Results {
  compile: CommandRunResult | null;
  run: CommandRunResult | null;
  files: Map<string, Buffer>;
}

function response({ compile, run, files }: Results, pod: string | null): RunCodeResponse {
  const { status, message } = runVerdict([compile, run]);
  return {
    status,
    message,
    compile_result: compile,
    run_result: run,
    executor_pod_name: pod,
    files: encodeFiles(files),
  };
}

export const encodeFiles = (files: Map<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...files].map(([name, content]) => [name, content.toString('base64')]));

const failedResponse = (message: string, pod: string | null): RunCodeResponse => ({
  status: 'SandboxError',
  message,
  compile_result: null,
  run_result: null,
  executor_pod_name: pod,
  files: {},
});

/** Upstream's rules, in order; stderr output alone never makes a program fail. */
function runVerdict(results: readonly (CommandRunResult | null)[]): { status: RunStatus; message: string } {
  const error = results.find((result) => result?.status === 'Error');
  if (error) return { status: 'SandboxError', message: error.stderr ?? '' };
  const failed = results.some((result) => result?.status === 'TimeLimitExceeded' || (result?.return_code ?? 0) !== 0);
  return { status: failed ? 'Failed' : 'Success', message: '' };
}
