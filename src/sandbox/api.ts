// One call of a JSON API: every failure becomes a SandboxApiError with a readable message.
import type { z } from 'zod';
import { ClientTimeoutError } from '../core/http/client.ts';
import { ConnectionError } from '../core/http/connection-error.ts';
import { exchangePatiently, type RetryOptions } from '../core/http/retry.ts';
import { parsePythonJson } from '../core/json/parse.ts';
import { printJson } from '../core/json/print.ts';

/** The server was unreachable, timed out, refused the call, or sent an unexpected answer. */
export class SandboxApiError extends Error {
  override name = 'SandboxApiError';
  readonly kind: 'connection' | 'timeout' | 'http' | 'answer';
  /** The HTTP status, if there was an answer. */
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

export interface ApiCall<T extends z.ZodType> {
  /** Shown in errors: without credentials and query. */
  where: string;
  /** With its "?". */
  query?: string;
  method: 'GET' | 'POST';
  body?: unknown;
  headers: Record<string, string>;
  answer: T;
  retry: RetryOptions;
  timeoutSeconds: number;
  /** Uses a new connection, for requests that must not be sent twice. */
  fresh?: boolean;
  signal?: AbortSignal | undefined;
}

/** Rejects with a SandboxApiError, or with the reason of an aborted signal. */
export async function callApi<T extends z.ZodType>(call: ApiCall<T>): Promise<z.output<T>> {
  const { where, query = '', method, body, headers, answer, retry, timeoutSeconds, fresh = false, signal } = call;
  const request = { url: `${where}${query}`, method, headers, signal, timeoutMs: timeoutSeconds * 1000, fresh };
  const exchanged = await exchangePatiently(
    body === undefined ? request : { ...request, body: printJson(body) },
    retry,
  ).catch((error: unknown) => {
    throw failure(where, error);
  });
  const { status, text } = exchanged;
  if (status !== 200) throw refusal(where, status, text, exchanged.headers.location);
  const read = answer.safeParse(readJson(where, text));
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw new SandboxApiError(
    'answer',
    `${where} did not answer as SandboxFusion does: ${issue?.path.join('.') || 'the answer'}: ${issue?.message}`,
    { status, detail: text },
  );
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
    // A gateway's page, or an empty body: the text is all there is to show.
  }
  const reason = location === undefined ? detailText(detail) : `it points to ${location}`;
  return new SandboxApiError('http', `${where} answered ${status}: ${reason}`, { status, detail });
}

/** A 422 lists which field is wrong and why; every other detail is already text. */
function detailText(detail: unknown): string {
  if (!Array.isArray(detail))
    return typeof detail === 'string' ? detail.trim().slice(0, 500) : printJson(detail ?? null);
  const issues = detail;
  return issues.map(({ loc, msg }) => `${loc?.slice(1).join('.') || 'body'}: ${msg}`).join('; ');
}

function readJson(where: string, text: string): unknown {
  try {
    return parsePythonJson(text);
  } catch (error) {
    // A proxy's page, or an empty body: the answer did not come from a SandboxFusion server.
    throw new SandboxApiError(
      'http',
      `${where} did not answer in JSON: ${text.trim().slice(0, 200) || 'its answer is empty'}`,
      {
        detail: text,
        cause: error,
      },
    );
  }
}
