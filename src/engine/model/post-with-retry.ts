import { isUtf8 } from 'node:buffer';
import { type AnswerHead, ConnectionError, receive } from '../../http/client.ts';
import { retryAfterMs, withRetry } from '../../http/retry.ts';
import type { JsonObject } from '../../json/value.ts';
import { ModelError } from './model.ts';
import { ServerEvents } from './sse.ts';

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

/** Puts a turn together from what the server says of it: its events, or one whole answer. What it throws ends the attempt. */
export interface TurnReader<T> {
  add(json: string): void;
  finish(): T;
}

/**
 * Posts `body` as JSON, and has the answer read by a new reader for every attempt.
 * @throws ModelError once no attempt is left or the failure is final, or the signal's reason
 */
export async function postWithRetry<T extends object>(
  server: ModelServer,
  body: JsonObject,
  signal: AbortSignal | undefined,
  reader: () => TurnReader<T>,
  onRetry: (reason: string) => void,
): Promise<T & { retries: number }> {
  const payload = JSON.stringify(body);
  let tries = 0;
  const retryable = (error: unknown) =>
    error instanceof RetryableError ? { reason: error.message, retryAfterMs: error.retryAfterMs } : null;
  const { attempts = 6, backoffMs: firstDelayMs = 500 } = server;
  try {
    return await withRetry({ attempts, firstDelayMs, signal, retryable, onRetry }, async (attempt) => {
      tries = attempt;
      return Object.assign(await postOnce(server, payload, signal, reader()), { retries: attempt - 1 });
    });
  } catch (error) {
    if (!(error instanceof RetryableError)) throw error;
    const advice = error.status === null ? '; is the model server running there?' : '';
    const message = `${server.url}: ${error.message} (tried ${tries} times)${advice}`;
    throw new ModelError(message, error.status, 'unreachable');
  }
}

/** No turn is so long; a server that never ends one must not take all memory. */
const LARGEST_ANSWER = 256 << 20;

async function postOnce<T>(
  { url, apiKey, idleMs = 300_000 }: ModelServer,
  payload: string,
  signal: AbortSignal | undefined,
  turn: TurnReader<T>,
): Promise<T> {
  const headers = {
    accept: 'text/event-stream, application/json',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  };
  let head: AnswerHead = { status: 0, headers: {} };
  let events: ServerEvents | null = null;
  /** The body of an answer that is no stream of events. */
  const parts: Uint8Array[] = [];
  let bytes = 0;
  const isOk = () => head.status >= 200 && head.status <= 299;
  /** @returns whether it was the last one */
  const add = (data: string): boolean => {
    if (data.trim() === '[DONE]') return true;
    turn.add(data);
    return false;
  };
  try {
    await receive(
      { url, method: 'POST', body: payload, headers, signal, silentMs: idleMs },
      {
        head(own) {
          head = own;
          if (isOk() && own.headers['content-type']?.includes('event-stream')) events = new ServerEvents();
        },
        data(chunk) {
          bytes += chunk.length;
          if (bytes > LARGEST_ANSWER)
            throw new ModelError(`the answer is longer than ${LARGEST_ANSWER >> 20} MB`, null, 'refused');
          if (events !== null) return events.push(chunk).some(add);
          parts.push(chunk);
          return !isOk() && bytes > REASON_BYTES;
        },
      },
    );
  } catch (error) {
    if (error instanceof ConnectionError) throw new RetryableError(error.message);
    throw error;
  }
  const body = Buffer.concat(parts);
  const text = body.toString('utf8');
  if (!isOk()) throw failure(url, head, text);
  // Bytes that are not UTF-8 were damaged on their way, and would be text of the model's.
  if (!isUtf8(body)) throw new RetryableError('the answer is not UTF-8');
  // Assigned by the reader, which the compiler does not see.
  const streamed = events as ServerEvents | null;
  if (streamed === null) turn.add(text);
  else streamed.end().some(add);
  return turn.finish();
}

const REASON_BYTES = 1 << 16;
/** Too slow, too early, too many. */
const LATER = new Set([408, 425, 429]);

function failure(url: string, { status, headers }: AnswerHead, text: string): Error {
  const message = `HTTP ${status}: ${text.slice(0, 500).trim() || reasonOfStatus(status, headers.location)}`;
  if (LATER.has(status) || status >= 500)
    return new RetryableError(message, status, retryAfterMs(headers['retry-after']));
  return new ModelError(`${url}: ${message}`, status, OVERFLOW.test(text) ? 'overflow' : 'refused', text);
}

/** A redirect is not followed: the key would go along, and a turn that is sampled elsewhere should be known to be. */
function reasonOfStatus(status: number, location: string | undefined): string {
  if (status < 300 || status > 399) return 'no reason given';
  return location === undefined
    ? 'a redirect that does not say where to; give the address of the server itself as --model-url'
    : `a redirect to ${location}; give that address as --model-url`;
}
