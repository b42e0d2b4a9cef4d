import { z } from 'zod';
import { DEFAULT_RATE_LIMIT, Limiter, limiterNamed, type RateLimiter } from '../../core/async/limiter.ts';
import { printJson } from '../../core/json/print.ts';
import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import type { Run } from '../../sandbox/check-correctness.ts';
import { SandboxApiError, SandboxClient } from '../../sandbox/client.ts';
import { isLanguage, type RunCodeResponse } from '../../sandbox/protocol.ts';
import { type CaseMetadata, judge } from '../../sandbox/verdict.ts';
import type { OpenAIFunctionToolSchema } from './schema.ts';
import { StatefulTool, type ToolResponse, type ToolResult, type ToolRun } from './tool.ts';

/** The config of verl's SandboxFusionTool (`verl/tools/sandbox_fusion_tools.py`) with its defaults; times in seconds. */
const CodeInterpreterConfig = z.looseObject({
  num_workers: z.number().int().positive().default(10),
  rate_limit: z.number().int().positive().default(DEFAULT_RATE_LIMIT),
  enable_global_rate_limit: z.boolean().default(true),
  default_timeout: z.number().positive().default(30),
  default_language: z.string().default('python'),
  sandbox_fusion_url: z.string().default(''),
  memory_limit_mb: z.number().int().positive().default(1024),
});
type Config = z.infer<typeof CodeInterpreterConfig>;

/** verl's answer for anything but a program that ran to its end; the actual cause is recorded separately. */
const NO_STDOUT = 'no stdout here';

export const CODE_INTERPRETER_SCHEMA: OpenAIFunctionToolSchema = {
  type: 'function',
  function: {
    name: 'code_interpreter',
    description: 'A tool for executing code.',
    parameters: {
      type: 'object',
      properties: { code: { type: 'string', description: 'The code to execute.', enum: null } },
      required: ['code'],
    },
    strict: false,
  },
};

/** The share of a short time limit that the program gets; the rest is for transferring the answer. */
const ANSWERS_WITHIN = 0.8;

interface InterpreterState {
  groundTruth: JsonValue;
  /** verl returns this list as the reward, and never adds to it. */
  reward: JsonValue[];
}

/** Runs the model's code on a SandboxFusion server. Every instance of the process shares one rate limit, unless it is switched off. */
export class CodeInterpreterTool extends StatefulTool<InterpreterState> {
  readonly silence = 'sandbox_fault';
  readonly #config: Config;
  readonly #run: Run;
  /** num_workers limits one tool, the shared limiter all of them. */
  readonly #workers: Limiter;
  readonly #shared: RateLimiter | null;

  /** @param run replaces the configured server: an embedded sandbox. */
  constructor(config: unknown, schema: OpenAIFunctionToolSchema = CODE_INTERPRETER_SCHEMA, run?: Run) {
    super(schema);
    this.#config = CodeInterpreterConfig.parse(config ?? {});
    this.#run = run ?? clientOf(this.#config.sandbox_fusion_url);
    this.#workers = new Limiter(this.#config.num_workers);
    this.#shared = this.#config.enable_global_rate_limit ? limiterNamed('rate-limiter', this.#config.rate_limit) : null;
  }

  /** The program to run for the model's code. */
  protected codeOf(given: string): string {
    return given;
  }

  protected start(kwargs: JsonObject): InterpreterState {
    return { groundTruth: kwargs.ground_truth ?? null, reward: [] };
  }

  protected async run(
    _state: InterpreterState,
    parameters: JsonObject,
    _kwargs: JsonObject,
    { signal, clock, seconds: limit = Number.POSITIVE_INFINITY }: ToolRun,
  ): Promise<ToolResult> {
    const { code: given = '', timeout, language } = parameters;
    const code = this.codeOf(typeof given === 'string' ? given : printJson(given));
    const asked = typeof timeout === 'number' && timeout > 0 ? timeout : this.#config.default_timeout;
    // The sandbox ends a program before the call's own time is up, so any later silence is the sandbox's fault.
    const seconds = Math.min(asked, Math.max(limit * ANSWERS_WITHIN, limit - 2));
    const chosen = typeof language === 'string' && language !== '' ? language : this.#config.default_language;
    clock?.pause();
    const { answer, error } = await this.#execute(code, seconds, chosen, signal, () => clock?.resume());
    const { metadata } = judge({ index: 0, input: null, expected: null }, answer, error);
    if (metadata.run_status === 'Finished') {
      const text = (metadata.stdout ?? '') + (metadata.stderr ?? '');
      const isMissing = chosen !== 'bash' && metadata.exit_code === 127 && NO_INTERPRETER.test(metadata.stderr ?? '');
      const fault = isMissing ? ({ error: text.trim(), fault: 'ours', cause: 'toolchain_missing' } as const) : {};
      return { response: { text, ...fault }, reward: null, metrics: metricsOf(code, metadata) };
    }
    const why = error ?? (metadata.compile_stderr || metadata.stderr || answer?.message || '').trim();
    const problem = `${metadata.status}${why ? `: ${why}` : ''}`;
    return {
      response: { text: NO_STDOUT, error: problem, ...faultOf(metadata, why) },
      reward: null,
      metrics: metricsOf(code, metadata),
    };
  }

  async #execute(
    code: string,
    seconds: number,
    language: string,
    signal: AbortSignal | undefined,
    onPlace: () => void,
  ): Promise<{ answer: RunCodeResponse | null; error: string | null }> {
    if (!isLanguage(language)) return { answer: null, error: `Unsupported language: ${language}` };
    const request = {
      code,
      language,
      compile_timeout: seconds,
      run_timeout: seconds,
      memory_limit_MB: this.#config.memory_limit_mb,
    };
    const options = signal ? { signal } : {};
    const ask = (inner: AbortSignal) => {
      onPlace();
      return this.#run(request, { signal: inner });
    };
    try {
      const shared = this.#shared;
      const answer = await this.#workers.run(
        (inner) => (shared ? shared.run(ask, { signal: inner, longestMs: 2000 * seconds }) : ask(inner)),
        options,
      );
      return { answer, error: null };
    } catch (error) {
      if (error instanceof SandboxApiError) return { answer: null, error: `API Call Failed: ${error.message}` };
      throw error;
    }
  }

  protected override reward(state: InterpreterState): JsonValue {
    return state.reward;
  }
}

/** Metrics for readers of many rollouts; verl's tool records none. */
const metricsOf = (code: string, { exit_code, duration, status }: CaseMetadata): JsonObject => ({
  lines: code.split('\n').length,
  exit_status: exit_code,
  seconds: duration,
  timed_out: status === 'timeout' || status === 'compile_timeout',
});

/** A program that does not compile, runs too long or is killed is the model's fault; a sandbox without a verdict is not. */
function faultOf(
  { status, run_status }: Pick<CaseMetadata, 'status' | 'run_status'>,
  why: string,
): Pick<ToolResponse, 'fault' | 'cause'> {
  // A program that could not be started is not at fault.
  if (run_status === 'Error') return { fault: 'world', cause: 'sandbox_fault' };
  if (status === 'api_error' && why.startsWith('Unsupported language')) return { fault: 'model' };
  const isProgram = status === 'timeout' || status === 'runtime_error';
  if (!isProgram && MISSING_TOOLCHAIN.test(why)) return { fault: 'ours', cause: 'toolchain_missing' };
  if (isProgram || status.startsWith('compile_')) return { fault: 'model' };
  return { fault: 'world', cause: 'sandbox_fault' };
}

/** A shell's message when it cannot find the program's interpreter; bash programs may print it themselves. */
const NO_INTERPRETER = /^\S*sh: (?:line \d+: |\d+: )?\S+: (?:command )?not found\s*$/;

/** How shells, this program's sandbox and SandboxFusion report a missing compiler or interpreter. */
const MISSING_TOOLCHAIN =
  /command not found|not installed|no such (?:interpreter|compiler)|toolchain|No such file or directory: '[\w.+-]+'/i;

function clientOf(url: string): Run {
  if (url === '')
    throw new TypeError('sandbox_fusion_url is not set: give it, or --sandbox auto for the sandbox of this machine');
  const client = new SandboxClient({ endpoint: url });
  return (request, call) => client.runCode(request, call);
}
