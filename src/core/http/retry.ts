import { pause } from '../async/timeout.ts';
import { exchange, type HttpAnswer, type HttpRequest } from './client.ts';
import { ConnectionError } from './connection-error.ts';

export interface RetryOptions {
  /** Total tries, including the first. */
  attempts: number;
  /** Milliseconds before the second try; doubled each time, with up to half of it random. */
  firstDelayMs: number;
}
export const DEFAULT_RETRY: RetryOptions = { attempts: 4, firstDelayMs: 500 };

const LONGEST_DELAY_MS = 30_000;
/** A server may ask for hours; a waiting user would rather get an error. */
const LONGEST_RETRY_AFTER_MS = 120_000;

/** A failure that a retry may fix. */
interface Retryable {
  reason: string;
  /** Milliseconds that the server asked for; 0 if none. */
  retryAfterMs: number;
}

export interface RetryPolicy extends RetryOptions {
  signal?: AbortSignal | undefined;
  /** Decides whether a retry may help; null = the failure is final. */
  retryable: (error: unknown) => Retryable | null;
  onRetry?: (reason: string) => void;
}

/**
 * Tries until `work` succeeds, its failure is final, or the attempts are used up. Between tries it waits for the
 * back-off or the server's Retry-After, whichever is longer. @throws the last failure, or the signal's reason
 */
export async function withRetry<T>(policy: RetryPolicy, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      policy.signal?.throwIfAborted();
      const failure = policy.retryable(error);
      if (failure === null || attempt >= policy.attempts) throw error;
      policy.onRetry?.(failure.reason);
      await pause(retryPauseMs(policy.firstDelayMs, attempt, failure.retryAfterMs), policy.signal);
    }
  }
}

/**
 * The pause after a failed attempt, the first of which is 1; all in milliseconds. Randomness keeps clients that were refused together from
 * retrying together. @param asked by the server, 0 if it asked for none
 */
export function retryPauseMs(firstDelayMs: number, attempt: number, asked: number): number {
  const backOff = Math.min(firstDelayMs * 2 ** (attempt - 1), LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
  return Math.max(backOff, Math.min(asked, LONGEST_RETRY_AFTER_MS));
}

const BUSY = new Set([429, 502, 503, 504]);

/** An answer that means: try again later. */
class BusyAnswer extends Error {
  readonly answer: HttpAnswer;
  constructor(answer: HttpAnswer) {
    super(`HTTP ${answer.status}`);
    this.answer = answer;
  }
}

/**
 * Retries while the server is unreachable or busy. Nothing else is retried: a bad request stays bad.
 * @returns the last answer, possibly a busy one @throws ConnectionError that names the number of tries,
 * ClientTimeoutError, the signal's reason
 */
export async function exchangePatiently(
  request: HttpRequest & { timeoutMs: number },
  retry: RetryOptions,
): Promise<HttpAnswer> {
  let tries = 0;
  try {
    return await withRetry({ ...retry, signal: request.signal, retryable: busyOrAway }, async (attempt) => {
      tries = attempt;
      const answer = await exchange(request);
      if (BUSY.has(answer.status)) throw new BusyAnswer(answer);
      return answer;
    });
  } catch (error) {
    if (error instanceof BusyAnswer) return error.answer;
    if (!(error instanceof ConnectionError) || tries === 1) throw error;
    throw new ConnectionError(`${error.message} (after ${tries} tries)`, {
      cause: error.cause,
      isFinal: error.isFinal,
    });
  }
}

function busyOrAway(error: unknown): Retryable | null {
  if (error instanceof ConnectionError) return error.isFinal ? null : { reason: error.message, retryAfterMs: 0 };
  if (error instanceof BusyAnswer)
    return { reason: error.message, retryAfterMs: retryAfterMs(error.answer.headers['retry-after']) };
  return null;
}

/** Milliseconds in a Retry-After header, which is in seconds or a date; 0 for anything else. */
export function retryAfterMs(value: string | undefined, now = Date.now()): number {
  if (value === undefined) return 0;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
