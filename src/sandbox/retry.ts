// Which failures of a request are worth another try, and when. The upstream SDK repeats everything, also what the user
// got wrong, and so needs 15 s to say that the base64 is bad; only a server that is away or busy is asked again here.
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionError, exchange, type HttpAnswer, type HttpRequest } from './http.ts';

export interface RetryOptions {
  /** Tries in all, the first included. */
  attempts: number;
  /** Before the second try; doubled each time, and up to half of it is left to chance. */
  firstDelayMs: number;
}
export const DEFAULT_RETRY: RetryOptions = { attempts: 4, firstDelayMs: 500 };

const BUSY = new Set([429, 502, 503, 504]);
const LONGEST_DELAY_MS = 30_000;

/** The last answer, or the last ConnectionError with the number of tries. Waiting ends at once when aborted. */
export async function exchangePatiently(request: HttpRequest, retry: RetryOptions): Promise<HttpAnswer> {
  for (let attempt = 1; ; attempt++) {
    let delay = firstDelay(retry) * 2 ** (attempt - 1);
    try {
      const answer = await exchange(request);
      if (!BUSY.has(answer.status) || attempt >= retry.attempts) return answer;
      delay = Math.max(delay, retryAfterMs(answer.headers['retry-after']));
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      if (attempt >= retry.attempts) {
        const tries = attempt === 1 ? '' : ` (after ${attempt} tries)`;
        throw new ConnectionError(`${error.message}${tries}`, { cause: error.cause });
      }
    }
    try {
      await sleep(Math.min(delay, LONGEST_DELAY_MS), undefined, request.signal ? { signal: request.signal } : {});
    } catch (error) {
      throw request.signal?.aborted ? request.signal.reason : error;
    }
  }
}

/** Chance keeps clients that were refused together from coming back together. */
const firstDelay = ({ firstDelayMs }: RetryOptions) => firstDelayMs * (0.5 + Math.random() / 2);

/** Retry-After is seconds or a date; anything else is ignored. */
export function retryAfterMs(value: string | undefined, now = Date.now()): number {
  if (value === undefined) return 0;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
