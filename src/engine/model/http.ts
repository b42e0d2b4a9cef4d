import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../rollout/json.ts';
import { ModelError } from './model.ts';

export interface HttpOptions {
  url: string;
  apiKey?: string | undefined;
  /** How often one turn is asked for at the most. */
  attempts?: number;
  /** Back-off before the second attempt, in ms; it doubles each time, up to 30 s, with jitter. */
  backoffMs?: number;
  /** A response that is silent for so long is taken as dropped. */
  idleMs?: number;
}

/** A failure that another attempt may heal: 429, 5xx, a connection that broke, a stream that ended too early. */
export class RetryableError extends Error {
  override name = 'RetryableError';
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  constructor(message: string, status: number | null = null, retryAfterMs: number | null = null) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const OVERFLOW =
  /context (length|window|size)|maximum (context|model|input) length|longer than the model|too many tokens|exceeds? .{0,40}context/i;

/**
 * Posts `body` as JSON and hands the open response to `read`. Retries as long as RetryableError says that it may help, then rejects
 * with ModelError. `read` runs anew for every attempt.
 */
export async function postWithRetry<T>(
  options: HttpOptions,
  body: JsonObject,
  signal: AbortSignal | undefined,
  read: (chunks: AsyncIterable<Uint8Array>, contentType: string) => Promise<T>,
  onRetry: (reason: string) => void,
): Promise<{ value: T; retries: number }> {
  const attempts = options.attempts ?? 6;
  const payload = JSON.stringify(body);
  for (let attempt = 1; ; attempt++) {
    try {
      return { value: await once(options, payload, signal, read), retries: attempt - 1 };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof RetryableError)) throw error;
      if (attempt >= attempts) {
        throw new ModelError(
          `${options.url}: ${error.message} (tried ${attempt} times)`,
          error.status,
          error.status === null ? 'unreachable' : 'refused',
        );
      }
      onRetry(error.message);
      const wait = error.retryAfterMs ?? Math.min(30_000, (options.backoffMs ?? 500) * 2 ** (attempt - 1));
      await sleep(wait * (0.75 + Math.random() / 2), undefined, signal ? { signal } : {}).catch(() => {});
      signal?.throwIfAborted();
    }
  }
}

async function once<T>(
  { url, apiKey, idleMs = 300_000 }: HttpOptions,
  payload: string,
  signal: AbortSignal | undefined,
  read: (chunks: AsyncIterable<Uint8Array>, contentType: string) => Promise<T>,
): Promise<T> {
  // One controller carries the caller's end and the silence of the server; AbortSignal.any would pile up listeners on a long-lived signal.
  const stop = new AbortController();
  const forward = () => stop.abort(signal?.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener('abort', forward, { once: true });
  const idle = setTimeout(() => stop.abort(new Error(`no byte for ${idleMs / 1000} s`)), idleMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream, application/json',
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      },
      body: payload,
      signal: stop.signal,
    });
    if (!response.ok) throw failure(url, response, await response.text());
    return await read(alive(response, idle), response.headers.get('content-type') ?? '');
  } catch (error) {
    if (error instanceof RetryableError || error instanceof ModelError || signal?.aborted) throw error;
    throw new RetryableError(reasonOf(stop.signal.aborted ? stop.signal.reason : error));
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener('abort', forward);
    // A reader that stopped early (the last event was seen, the connection was not yet closed) leaves a body to be given up.
    stop.abort();
  }
}

async function* alive(response: Response, idle: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  if (!response.body) return;
  for await (const chunk of response.body) {
    idle.refresh();
    yield chunk as Uint8Array;
  }
}

function failure(url: string, response: Response, text: string): Error {
  const { status } = response;
  const message = `HTTP ${status}: ${text.slice(0, 500).trim() || response.statusText}`;
  if (status === 429 || status >= 500) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    return new RetryableError(message, status, Number.isFinite(seconds) ? Math.min(seconds, 120) * 1000 : null);
  }
  return new ModelError(`${url}: ${message}`, status, OVERFLOW.test(text) ? 'overflow' : 'refused');
}

/** undici says "fetch failed" or "terminated" and keeps the cause inside. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const inner = cause instanceof Error ? `${(cause as NodeJS.ErrnoException).code ?? ''} ${cause.message}`.trim() : '';
  return inner && !message.includes(inner) ? `${message} (${inner})` : message;
}
