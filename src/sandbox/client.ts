// SandboxFusion over HTTP: any server that speaks its API, this program's own included.
import type { z } from 'zod';
import { type Endpoint, endpointOf } from './endpoint.ts';
import { ClientTimeoutError, ConnectionError } from './http.ts';
import { parseJson, writeJson } from './json.ts';
import * as wire from './protocol.ts';
import { DEFAULT_RETRY, exchangePatiently, type RetryOptions } from './retry.ts';

/** Seconds that the network and the server's own queue may take on top of the program's limits, as in verl. */
const MARGIN_SECONDS = 10;
/** SandboxFusion's driver may run this much longer than the cells' total_timeout. */
const JUPYTER_DRIVER_SECONDS = 10;
const LOOKUP_SECONDS = 60;

export interface ClientOptions {
  /** The base URL or the full …/run_code; default SANDBOX_FUSION_ENDPOINT, then http://localhost:8080. */
  endpoint?: string | undefined;
  /** Sent as a bearer token. */
  token?: string | undefined;
  retry?: Partial<RetryOptions>;
  marginSeconds?: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** How long to wait for the answer in all; default: what the request allows the program, and the margin. */
  timeoutSeconds?: number;
}

/** The server could not be asked, did not answer in time, refused, or answered something else. */
export class SandboxApiError extends Error {
  override name = 'SandboxApiError';
  readonly kind: 'connection' | 'timeout' | 'http' | 'answer';
  /** Of the HTTP answer, where there was one. */
  readonly status: number | undefined;
  /** The `detail` of a 4xx or 5xx, else the text of the answer. */
  readonly detail: unknown;

  constructor(
    kind: SandboxApiError['kind'],
    message: string,
    options: ErrorOptions & { status?: number; detail?: unknown } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.status = options.status;
    this.detail = options.detail;
  }
}

/**
 * Every method rejects with a SandboxApiError, or with the reason of an aborted signal. An answer with status
 * SandboxError is an answer, not a failure: most are the caller's own mistakes, so nothing is tried again.
 */
export class SandboxClient {
  readonly #endpoint: Endpoint;
  readonly #headers: Record<string, string>;
  readonly #retry: RetryOptions;
  readonly #margin: number;

  constructor(options: ClientOptions = {}) {
    this.#endpoint = endpointOf(options.endpoint);
    const authorization = options.token ? `Bearer ${options.token}` : this.#endpoint.authorization;
    this.#headers = authorization ? { authorization } : {};
    this.#retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#margin = options.marginSeconds ?? MARGIN_SECONDS;
  }

  /** Without credentials and query: fit to be shown. */
  get url(): string {
    return this.#endpoint.base;
  }

  runCode(request: wire.RunCodeInput, call: CallOptions = {}): Promise<wire.RunCodeResponse> {
    const { compile_timeout = 10, run_timeout = 10 } = request;
    const seconds = Math.max(0, compile_timeout) + Math.max(0, run_timeout) + this.#margin;
    return this.#post('/run_code', request, wire.runCodeResponse, { timeoutSeconds: seconds, ...call });
  }

  runJupyter(request: wire.RunJupyterInput, call: CallOptions = {}): Promise<wire.RunJupyterResponse> {
    const seconds = Math.max(0, request.total_timeout ?? 45) + JUPYTER_DRIVER_SECONDS + this.#margin;
    return this.#post('/run_jupyter', request, wire.runJupyterResponse, { timeoutSeconds: seconds, ...call });
  }

  /** How many tests a problem has only the server knows, so by default the answer is waited for without end. */
  submit(request: wire.SubmitInput, call: CallOptions = {}): Promise<wire.EvalResult> {
    return this.#post('/submit', request, wire.evalResult, { timeoutSeconds: Number.POSITIVE_INFINITY, ...call });
  }

  getPrompts(request: wire.GetPromptsInput, call: CallOptions = {}): Promise<wire.Prompt[]> {
    return this.#post('/get_prompts', request, wire.promptList, call);
  }

  getPromptById(request: wire.GetPromptByIdInput, call: CallOptions = {}): Promise<wire.Prompt> {
    return this.#post('/get_prompt_by_id', request, wire.prompt, call);
  }

  listDatasets(call: CallOptions = {}): Promise<string[]> {
    return this.#call('GET', '/list_datasets', undefined, wire.datasetList, call);
  }

  listIds(request: wire.GetPromptsInput, call: CallOptions = {}): Promise<wire.ProblemId[]> {
    return this.#post('/list_ids', request, wire.idList, call);
  }

  getMetrics(request: wire.GetMetricsInput, call: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.#post('/get_metrics', request, wire.metrics, call);
  }

  async getMetricsFunction(request: wire.GetMetricsFunctionInput, call: CallOptions = {}): Promise<string | null> {
    return (await this.#post('/get_metrics_function', request, wire.metricsFunction, call)).function;
  }

  async ping(call: CallOptions = {}): Promise<'pong'> {
    return this.#call('GET', '/v1/ping', undefined, wire.pong, call);
  }

  #post<T extends z.ZodType>(path: string, body: unknown, answer: T, call: CallOptions): Promise<z.output<T>> {
    return this.#call('POST', path, writeJson(body), answer, call);
  }

  async #call<T extends z.ZodType>(
    method: 'GET' | 'POST',
    path: string,
    body: string | undefined,
    answer: T,
    { signal, timeoutSeconds = LOOKUP_SECONDS }: CallOptions,
  ): Promise<z.output<T>> {
    const { base, query } = this.#endpoint;
    const where = `${base}${path}`;
    const request = {
      url: `${where}${query}`,
      method,
      headers: this.#headers,
      signal,
      timeoutMs: timeoutSeconds * 1000,
    };
    const { status, headers, text } = await exchangePatiently(
      body === undefined ? request : { ...request, body },
      this.#retry,
    ).catch((error: unknown) => {
      throw failure(where, error);
    });
    if (status !== 200) throw refusal(where, status, text, headers.location);
    const read = answer.safeParse(readJson(where, text));
    if (read.success) return read.data;
    const issue = read.error.issues[0];
    throw new SandboxApiError(
      'answer',
      `${where} did not answer as SandboxFusion does: ${issue?.path.join('.') || 'the answer'}: ${issue?.message}`,
      { status, detail: text },
    );
  }
}

function failure(where: string, error: unknown): unknown {
  if (error instanceof ConnectionError) {
    return new SandboxApiError('connection', `cannot reach the sandbox at ${where}: ${error.message}`, {
      cause: error,
    });
  }
  if (error instanceof ClientTimeoutError) {
    return new SandboxApiError('timeout', `the sandbox at ${where} gave ${error.message}`, { cause: error });
  }
  return error;
}

function refusal(where: string, status: number, text: string, location: string | undefined): SandboxApiError {
  let detail: unknown = text;
  try {
    detail = (JSON.parse(text) as { detail?: unknown }).detail ?? text;
  } catch {
    // A gateway's own page, or nothing: the text says what there is to say.
  }
  const told = location === undefined ? detailText(detail) : `it points to ${location}`;
  return new SandboxApiError('http', `${where} answered ${status}: ${told}`, { status, detail });
}

/** A 422 lists what is wrong with which field; everything else is text already. */
function detailText(detail: unknown): string {
  if (!Array.isArray(detail)) return typeof detail === 'string' ? detail.trim().slice(0, 500) : writeJson(detail);
  const issues = detail as { loc?: unknown[]; msg?: string }[];
  return issues.map(({ loc, msg }) => `${loc?.slice(1).join('.') || 'body'}: ${msg}`).join('; ');
}

function readJson(where: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new SandboxApiError('answer', `${where} did not answer in JSON: ${text.slice(0, 200)}`, {
      detail: text,
      cause: error,
    });
  }
}
