import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../json/value.ts';
import { ModelError } from './model.ts';
import { bodyText, post } from './post.ts';

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
        const isAway = error.status === null;
        const advice = isAway ? '; is the model server running there?' : '';
        throw new ModelError(
          `${options.url}: ${error.message} (tried ${attempt} times)${advice}`,
          error.status,
          isAway ? 'unreachable' : 'refused',
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
  let response: IncomingMessage | null = null;
  try {
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    };
    response = await post(url, headers, payload, stop.signal);
    const chunks = alive(response, idle);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299)
      throw failure(url, status, response.headers['retry-after'], await bodyText(chunks));
    return await read(chunks, response.headers['content-type'] ?? '');
  } catch (error) {
    response?.destroy();
    if (error instanceof RetryableError || error instanceof ModelError || signal?.aborted) throw error;
    throw new RetryableError(reasonOfConnection(stop.signal.aborted ? stop.signal.reason : error));
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener('abort', forward);
    if (response && !response.complete) drain(response);
  }
}

const DRAIN_MS = 1000;

/** A reader that has seen the last event leaves a few bytes: with them gone, the connection serves the next turn. */
function drain(response: IncomingMessage): void {
  const timer = setTimeout(() => response.destroy(), DRAIN_MS);
  response.on('error', () => {}).once('close', () => clearTimeout(timer));
  response.resume();
}

/** No turn is so long; a server that never ends one must not take all memory. */
const LARGEST = 1 << 28;

async function* alive(response: IncomingMessage, idle: NodeJS.Timeout): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    idle.refresh();
    bytes += (chunk as Uint8Array).length;
    if (bytes > LARGEST) throw new ModelError(`the answer is longer than ${LARGEST >> 20} MB`, null, 'refused');
    yield chunk as Uint8Array;
  }
}

function failure(url: string, status: number, retryAfter: string | undefined, text: string): Error {
  const message = `HTTP ${status}: ${text.slice(0, 500).trim() || 'no reason given'}`;
  if (status === 429 || status >= 500) {
    const seconds = Number(retryAfter ?? Number.NaN);
    return new RetryableError(message, status, Number.isFinite(seconds) ? Math.min(seconds, 120) * 1000 : null);
  }
  return new ModelError(`${url}: ${message}`, status, OVERFLOW.test(text) ? 'overflow' : 'refused');
}

/** A connection tried over several addresses fails with several reasons and no message of its own. */
export function reasonOfConnection(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || (code ?? 'the connection failed');
}
