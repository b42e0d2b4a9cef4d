import { isUtf8 } from 'node:buffer';
import { AnswerBody } from '../../core/http/answer-body.ts';
import { type AnswerHead, receive } from '../../core/http/client.ts';
import { ConnectionError } from '../../core/http/connection-error.ts';
import { retryAfterMs, withRetry } from '../../core/http/retry.ts';
import { refusalText } from '../../core/http/status.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { ModelError } from './model.ts';
import { ServerEvents } from './sse.ts';

export interface ModelServer {
  url: string;
  apiKey?: string | undefined;
  /** The maximum number of attempts for one turn. */
  attempts?: number;
  /** Back-off before the second attempt, in ms; it doubles each time, up to 30 s. */
  backoffMs?: number;
  /** A response that is silent for this many ms counts as dropped. */
  idleMs?: number;
}

/** A failure that a retry may fix: 429, 5xx, a broken connection, a stream that ended too early. */
export class RetryableError extends Error {
  override name = 'RetryableError';
  readonly status: number | null;
  /** Milliseconds that the server asked for; 0 if it did not. */
  readonly retryAfterMs: number;
  constructor(message: string, status: number | null = null, retryAfterMs = 0) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const OVERFLOW =
  /context (length|window|size)|maximum (context|model|input) length|longer than the model|too many tokens|exceeds? .{0,40}context/i;

/** Assembles a turn from the server's events, or from one whole answer. An exception ends the attempt. */
export interface TurnReader<T> {
  add(json: string): void;
  finish(): T;
}

/**
 * Posts `body` as JSON; every attempt gets a new reader for the answer.
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

/** Events of a stream are not kept, but their content is; no turn is this long. */
const LONGEST_STREAM = 256 << 20;

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
  /** The body of an answer that is not an event stream. */
  const whole = new AnswerBody();
  let streamedBytes = 0;
  const isOk = () => head.status >= 200 && head.status <= 299;
  /** @returns whether it was the last event */
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
          if (events === null) {
            whole.add(chunk);
            return !isOk() && whole.size > REASON_BYTES;
          }
          streamedBytes += chunk.length;
          if (streamedBytes > LONGEST_STREAM)
            throw new ConnectionError(`the stream is longer than ${LONGEST_STREAM >> 20} MB`, { isFinal: true });
          return events.push(chunk).some(add);
        },
      },
    );
    return postTurn(url, head, whole.bytes(), events, turn, add);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    if (error.isFinal) throw new ModelError(`${url}: ${error.message}`, null, 'unreachable');
    throw new RetryableError(error.message);
  } finally {
    whole.release();
  }
}

/** @throws RetryableError for a failure that may be temporary, ModelError for a refusal */
function postTurn<T>(
  url: string,
  { status, headers }: AnswerHead,
  body: Buffer,
  events: ServerEvents | null,
  turn: TurnReader<T>,
  add: (data: string) => boolean,
): T {
  const text = body.toString('utf8');
  if (status < 200 || status > 299) throw postFailure(url, { status, headers }, text);
  // Bytes that are not UTF-8 were damaged in transit, and would pass as text of the model.
  if (!isUtf8(body)) throw new RetryableError('the answer is not UTF-8');
  if (events !== null) events.end().some(add);
  else if (text.trim() === '') throw new RetryableError(`the answer is empty (HTTP ${status})`);
  else turn.add(text);
  return turn.finish();
}

const REASON_BYTES = 1 << 16;
/** Too slow, too early, too many. */
const LATER = new Set([408, 425, 429]);

function postFailure(url: string, { status, headers }: AnswerHead, text: string): Error {
  const message = refusalText(status, headers.location, text, '--model-url');
  if (LATER.has(status) || status >= 500)
    return new RetryableError(message, status, retryAfterMs(headers['retry-after']));
  return new ModelError(`${url}: ${message}`, status, OVERFLOW.test(text) ? 'overflow' : 'refused', text);
}
