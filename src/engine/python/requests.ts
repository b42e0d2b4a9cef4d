import type { JsonObject, JsonValue } from '../../core/json/value.ts';
import { itemAt } from '../../core/lists/at.ts';
import { CannotLoadError, OwnCodeError } from './own-error.ts';

/** ms for a cancelled call to acknowledge; after that, nothing else may run in a process that says it is blocked. */
const GRACE = 1000;

/** How often a process is given that time if it says nothing: a busy machine may not run it at all, and code may keep it from saying anything. */
const SILENT_TIMES = 5;

interface WaitingRequest {
  resolve: (value: JsonValue) => void;
  reject: (error: Error) => void;
  /** Its time is over, with this message: it was asked to end, and it is not yet clear whose fault it was. Null while it has time. */
  left: string | null;
}

/** The code location that blocks every other call. */
export interface Blocked {
  call: number | null;
  where: string | null;
}

/** The requests of one process: matches answers to requests, and handles abandoned calls. */
export class Requests {
  readonly #waiting = new Map<number, WaitingRequest>();
  readonly #send: (body: JsonObject) => void;
  readonly #kill: () => void;
  #next = 1;
  #reason: OwnCodeError | null = null;
  #blocked: Blocked | null = null;
  #isStuck = false;

  constructor(send: (body: JsonObject) => void, kill: () => void) {
    this.#send = send;
    this.#kill = kill;
  }

  get isDead(): boolean {
    return this.#reason !== null;
  }

  /** It holds work that does not end, or has not yet ended as requested. */
  get isTainted(): boolean {
    return this.#isStuck || [...this.#waiting.values()].some(({ left }) => left !== null);
  }

  get count(): number {
    return this.#waiting.size;
  }

  ask(body: JsonObject, signal: AbortSignal | undefined): Promise<JsonValue> {
    if (this.#reason !== null) return Promise.reject(this.#reason);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const waiting: WaitingRequest = { resolve, reject, left: null };
      this.#waiting.set(id, waiting);
      if (signal !== undefined) {
        const leave = () => this.#leave(id, signal.reason);
        signal.addEventListener('abort', leave, { once: true });
        const end = () => signal.removeEventListener('abort', leave);
        waiting.resolve = (value) => {
          end();
          resolve(value);
        };
        waiting.reject = (error) => {
          end();
          reject(error);
        };
      }
      this.#send({ ...body, id });
    });
  }

  /** Handles a line from the process. */
  take(message: JsonObject): void {
    if ('blocked' in message) {
      this.#blocked = {
        call: typeof message.blocked === 'number' ? message.blocked : null,
        where: typeof message.where === 'string' ? message.where : null,
      };
      for (const id of [...this.#waiting.keys()]) this.#tellLeft(id);
      return;
    }
    this.#blocked = null;
    const waiting = this.#waiting.get(Number(message.id));
    if (waiting === undefined) return;
    this.#waiting.delete(Number(message.id));
    const error = message.error as JsonObject | undefined;
    if (error?.stuck === true) this.#isStuck = true;
    // It ended on request, so it had been waiting for something all along, or its answer was on the way.
    if (waiting.left !== null) {
      const late = error === undefined ? (message.value ?? null) : undefined;
      waiting.reject(new OwnCodeError(waiting.left, { late }));
      return;
    }
    if (error === undefined) {
      waiting.resolve(message.value ?? null);
      return;
    }
    const said = String(error.message);
    const trace = typeof error.trace === 'string' ? error.trace : null;
    const Kind = error.kind === 'load' ? CannotLoadError : OwnCodeError;
    waiting.reject(new Kind(said, { trace }));
  }

  /** Fails everything under way. @param guilty the call that ended the process, if there was one */
  end(reason: string, guilty: number | null = null): void {
    if (this.#reason !== null) return;
    this.#reason = new OwnCodeError(reason, { fault: 'world' });
    // If only one call was under way when the process ended, that call ended it.
    const only = [...this.#waiting].filter(([, { left }]) => left === null);
    const cause = guilty ?? (only.length === 1 ? itemAt(only, 0)[0] : null);
    for (const [id, { reject, left }] of [...this.#waiting]) {
      this.#waiting.delete(id);
      if (id === cause)
        reject(new OwnCodeError(left === null ? reason : `${left}${this.#place}`, { endsProcess: true }));
      else reject(this.#reason);
    }
  }

  /** The code location that blocks everything else, for the end of a sentence. */
  get #place(): string {
    return this.#blocked?.where ? `, at ${this.#blocked.where}` : '';
  }

  /** A call that merely waits behind a blocking one has not hung. */
  #tellLeft(id: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.left == null || this.#blocked === null) return;
    const isBehind = this.#blocked.call !== null && this.#blocked.call !== id;
    waiting.reject(
      isBehind
        ? new OwnCodeError(`${waiting.left}: another call keeps the process busy${this.#place}`, { fault: 'world' })
        : new OwnCodeError(`${waiting.left}${this.#place}`, { endsProcess: true }),
    );
  }

  #leave(id: number, reason: unknown): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.left = reason instanceof Error ? reason.message : String(reason);
    this.#tellLeft(id);
    this.#send({ op: 'cancel', call: id });
    this.#judge(id, SILENT_TIMES);
  }

  #judge(id: number, times: number): void {
    setTimeout(() => {
      if (!this.#waiting.has(id) || this.#reason !== null) return;
      if (this.#blocked === null && times > 1) {
        this.#judge(id, times - 1);
        return;
      }
      const guilty = this.#blocked?.call ?? id;
      const where = this.#blocked?.where ? `: ${this.#blocked.where}` : '';
      this.end(`its process was ended, for another call did not come back${where}`, guilty);
      this.#kill();
    }, GRACE).unref();
  }
}
