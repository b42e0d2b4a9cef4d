// The memory that all requests in flight may take together. A request waits for room before it is read; one that finds
// none in time is answered 504, the only status that verl's clients retry.
import { RequestError } from '../request-error.ts';

const WAIT_MS = 10_000;

interface BudgetWaiter {
  bytes: number;
  grant: () => void;
}

export class Budget {
  readonly total: number;
  readonly #waitMs: number;
  #taken = 0;
  readonly #waiting = new Set<BudgetWaiter>();

  constructor(total: number, waitMs: number = WAIT_MS) {
    this.total = total;
    this.#waitMs = waitMs;
  }

  get taken(): number {
    return this.#taken;
  }

  open(): Share {
    return new Share(this);
  }

  /** null if there is room. Waiters are served in order. */
  take(bytes: number): Promise<void> | null {
    if (this.#waiting.size === 0 && this.#fits(bytes)) {
      this.#taken += bytes;
      return null;
    }
    return new Promise((resolve, reject) => {
      const waiting: BudgetWaiter = {
        bytes,
        grant: () => {
          clearTimeout(timer);
          this.#taken += bytes;
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        this.#serve();
        reject(
          new RequestError(
            504,
            `the server is full: requests hold ${this.#taken} of ${this.total} bytes; ask again later`,
          ),
        );
      }, this.#waitMs);
      this.#waiting.add(waiting);
    });
  }

  give(bytes: number): void {
    this.#taken -= bytes;
    this.#serve();
  }

  /** A single request may always proceed: its own size has a limit. */
  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.total;
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.bytes)) return;
      this.#waiting.delete(waiting);
      waiting.grant();
    }
  }
}

/** The memory of one request, until closed. */
export class Share {
  readonly #budget: Budget;
  #bytes = 0;
  #closed = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  take(bytes: number): Promise<void> | null {
    const wait = this.#budget.take(bytes);
    if (wait === null) {
      this.#bytes += bytes;
      return null;
    }
    return wait.then(() => {
      if (this.#closed) this.#budget.give(bytes);
      else this.#bytes += bytes;
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#budget.give(this.#bytes);
  }
}
