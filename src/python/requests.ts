import type { JsonObject, JsonValue } from '../json/value.ts';
import { CannotLoadError, OwnCodeError } from './own-error.ts';

/** ms for which a call that was cancelled may take to say so; after it nothing else runs in the process either. */
const GRACE = 1000;

interface Waiting {
  resolve: (value: JsonValue) => void;
  reject: (error: Error) => void;
  /** Its caller has gone; what comes of it is of interest to the process alone. */
  isLeft: boolean;
}

/** The place of the code that keeps every other call from running. */
export interface Blocked {
  call: number | null;
  where: string | null;
}

/** The requests of one process: pairs answers with requests, and decides what becomes of a call that is given up. */
export class Requests {
  readonly #waiting = new Map<number, Waiting>();
  readonly #send: (body: JsonObject) => void;
  readonly #kill: () => void;
  #next = 1;
  #reason: OwnCodeError | null = null;
  #blocked: Blocked | null = null;
  isTainted = false;

  constructor(send: (body: JsonObject) => void, kill: () => void) {
    this.#send = send;
    this.#kill = kill;
  }

  get isDead(): boolean {
    return this.#reason !== null;
  }

  get count(): number {
    return this.#waiting.size;
  }

  ask(body: JsonObject, signal: AbortSignal | undefined): Promise<JsonValue> {
    if (this.#reason !== null) return Promise.reject(this.#reason);
    if (signal?.aborted) return Promise.reject(signal.reason);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { resolve, reject, isLeft: false };
      this.#waiting.set(id, waiting);
      if (signal !== undefined) {
        const leave = () => this.#leave(id, waiting, signal.reason);
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

  /** A line of the process. */
  take(message: JsonObject): void {
    if ('blocked' in message) {
      this.#blocked = {
        call: typeof message.blocked === 'number' ? message.blocked : null,
        where: typeof message.where === 'string' ? message.where : null,
      };
      return;
    }
    this.#blocked = null;
    const waiting = this.#waiting.get(Number(message.id));
    if (waiting === undefined) return;
    this.#waiting.delete(Number(message.id));
    const error = message.error as JsonObject | undefined;
    if (error === undefined) {
      waiting.resolve(message.value ?? null);
      return;
    }
    if (error.stuck === true) this.isTainted = true;
    const said = String(error.message);
    const trace = typeof error.trace === 'string' ? error.trace : null;
    const Kind = error.kind === 'load' ? CannotLoadError : OwnCodeError;
    waiting.reject(new Kind(said, { trace }));
  }

  /** Everything that is under way fails. @param guilty the call that ended the process, where one did */
  end(reason: string, guilty: number | null = null): void {
    if (this.#reason !== null) return;
    this.#reason = new OwnCodeError(reason, { fault: 'world' });
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    // A call that is alone under way when its process ends has ended it.
    const isAlone = waiting.filter(([, one]) => !one.isLeft).length === 1;
    for (const [id, one] of waiting)
      one.reject(guilty === id || (guilty === null && isAlone) ? new OwnCodeError(reason) : this.#reason);
  }

  #leave(id: number, waiting: Waiting, reason: unknown): void {
    const blocked = this.#blocked;
    const said = reason instanceof Error ? reason.message : String(reason);
    // A call that merely waits behind one that does not let go has not hung.
    const isBehind = blocked !== null && blocked.call !== null && blocked.call !== id;
    const where = blocked?.where ? `, at ${blocked.where}` : '';
    waiting.isLeft = true;
    waiting.reject(
      isBehind
        ? new OwnCodeError(`${said}: another call keeps the process busy${where}`, { fault: 'world' })
        : new OwnCodeError(blocked === null ? said : `${said}${where}`),
    );
    this.#send({ op: 'cancel', call: id });
    setTimeout(() => {
      if (!this.#waiting.has(id) || this.#reason !== null) return;
      const guilty = this.#blocked?.call ?? id;
      this.end(
        `its process was ended, for another call did not come back${this.#blocked?.where ? `: ${this.#blocked.where}` : ''}`,
        guilty,
      );
      this.#kill();
    }, GRACE).unref();
  }
}
