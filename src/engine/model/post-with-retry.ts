import { ConnectionError, type OpenAnswer, open, reasonOfConnection } from '../../http/client.ts';
import { retryAfterMs, withRetry } from '../../http/retry.ts';
import type { JsonObject } from '../../json/value.ts';
import { ModelError } from './model.ts';

export interface ModelServer {
  url: string;
  apiKey?: string | undefined;
  /** How often one turn is asked for at the most. */
  attempts?: number;
  /** Back-off before the second attempt, in ms; it doubles each time, up to 30 s. */
  backoffMs?: number;
  /** A response that is silent for so many ms is taken as dropped. */
  idleMs?: number;
}

/** A failure that another attempt may mend: 429, 5xx, a connection that broke, a stream that ended too early. */
export class RetryableError extends Error {
  override name = 'RetryableError';
  readonly status: number | null;
  /** Milliseconds that the server asked for; 0 where it asked for none. */
  readonly retryAfterMs: number;
  constructor(message: string, status: number | null = null, retryAfterMs = 0) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const OVERFLOW =
  /context (length|window|size)|maximum (context|model|input) length|longer than the model|too many tokens|exceeds? .{0,40}context/i;

type ReadAnswer<T> = (chunks: AsyncIterable<Uint8Array>, contentType: string) => Promise<T>;

/**
 * Posts `body` as JSON and hands the open answer to `read`, which runs anew for every attempt.
 * @throws ModelError once no attempt is left or the failure is final, or the signal's reason
 */
export async function postWithRetry<T>(
  server: ModelServer,
  body: JsonObject,
  signal: AbortSignal | undefined,
  read: ReadAnswer<T>,
  onRetry: (reason: string) => void,
): Promise<{ value: T; retries: number }> {
  const payload = JSON.stringify(body);
  let tries = 0;
  const retryable = (error: unknown) =>
    error instanceof RetryableError ? { reason: error.message, retryAfterMs: error.retryAfterMs } : null;
  const { attempts = 6, backoffMs: firstDelayMs = 500 } = server;
  try {
    return await withRetry({ attempts, firstDelayMs, signal, retryable, onRetry }, async (attempt) => {
      tries = attempt;
      return { value: await postOnce(server, payload, signal, read), retries: attempt - 1 };
    });
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    const advice = error.status === null ? '; is the model server running there?' : '';
    const message = `${server.url}: ${error.message} (tried ${tries} times)${advice}`;
    throw new ModelError(message, error.status, 'unreachable');
  }
}

async function postOnce<T>(
  { url, apiKey, idleMs = 300_000 }: ModelServer,
  payload: string,
  signal: AbortSignal | undefined,
  read: ReadAnswer<T>,
): Promise<T> {
  let answer: OpenAnswer | null = null;
  try {
    const headers = {
      accept: 'text/event-stream, application/json',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    };
    answer = await open({ url, method: 'POST', body: payload, headers, signal, silentMs: idleMs });
    const chunks = watched(answer);
    if (answer.status < 200 || answer.status > 299) throw await failure(url, answer, chunks);
    return await read(chunks, answer.headers['content-type'] ?? '');
  } catch (error) {
    answer?.body.destroy();
    if (error instanceof RetryableError || error instanceof ModelError || signal?.aborted) throw error;
    throw new RetryableError(error instanceof ConnectionError ? error.message : reasonOfConnection(error));
  } finally {
    if (answer) drain(answer);
  }
}

const DRAIN_MS = 1000;

/** A reader that has seen the last event leaves a few bytes: once they are gone, the connection serves the next turn. */
function drain({ body }: OpenAnswer): void {
  if (body.readableEnded || body.destroyed) return;
  const timer = setTimeout(() => body.destroy(), DRAIN_MS);
  body.on('error', () => {}).once('close', () => clearTimeout(timer));
  body.resume();
}

/** No turn is so long; a server that never ends one must not take all memory. */
const LARGEST_ANSWER = 256 << 20;

async function* watched({ body }: OpenAnswer): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Uint8Array).length;
    if (bytes > LARGEST_ANSWER)
      throw new ModelError(`the answer is longer than ${LARGEST_ANSWER >> 20} MB`, null, 'refused');
    yield chunk as Uint8Array;
  }
}

const REASON_BYTES = 1 << 16;

async function failure(
  url: string,
  { status, headers }: OpenAnswer,
  chunks: AsyncIterable<Uint8Array>,
): Promise<Error> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    if (size > REASON_BYTES) break;
  }
  const text = Buffer.concat(parts).toString('utf8');
  const message = `HTTP ${status}: ${text.slice(0, 500).trim() || reasonOfStatus(status, headers.location)}`;
  if (status === 429 || status >= 500) return new RetryableError(message, status, retryAfterMs(headers['retry-after']));
  return new ModelError(`${url}: ${message}`, status, OVERFLOW.test(text) ? 'overflow' : 'refused', text);
}

/** A redirect is not followed: the key would go along, and a turn that is sampled elsewhere should be known to be. */
function reasonOfStatus(status: number, location: string | undefined): string {
  if (status < 300 || status > 399) return 'no reason given';
  return location === undefined
    ? 'a redirect that does not say where to; give the address of the server itself as --model-url'
    : `a redirect to ${location}; give that address as --model-url`;
}
