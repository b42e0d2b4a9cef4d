// How many programs run at the same time. Every execution of the server takes a place here: a /run_code, and each case
// of a /submit alike, first come, first served.
import { Limiter } from '../../async/limiter.ts';
import { RequestError } from '../request-error.ts';

export class Places {
  readonly #limiter: Limiter;
  readonly #maxQueue: number;
  #draining = false;

  constructor(concurrency: number, maxQueue: number) {
    this.#limiter = new Limiter(concurrency);
    this.#maxQueue = maxQueue;
  }

  /** @throws {RequestError} 429 when as many wait as may: the client shall come back, 503 while the server ends. */
  admit(): void {
    if (this.#draining) throw new RequestError(503, 'the server is shutting down');
    const { currentCount, waitingCount } = this.#limiter;
    if (waitingCount >= this.#maxQueue)
      throw new RequestError(429, `the queue is full: ${currentCount} programs run and ${waitingCount} wait`);
  }

  /** Makes every call wait for its place. */
  behind<Request, Answer>(
    run: (request: Request, signal?: AbortSignal) => Promise<Answer>,
  ): (request: Request, signal?: AbortSignal) => Promise<Answer> {
    return (request, signal) =>
      this.#limiter.run(
        (own) => {
          if (this.#draining) throw new RequestError(503, 'the server is shutting down');
          return run(request, own);
        },
        // Its processes take a moment to die, and count until then.
        { holdUntilEnded: true, ...(signal && { signal }) },
      );
  }

  /** What runs may end; what waits is told to go elsewhere. */
  drain(): void {
    this.#draining = true;
  }
}
