import { type JsonObject, type JsonValue, objectIn } from '../../core/json/value.ts';
import { OwnCodeError } from './own-error.ts';
import type { OpenProcess, OwnProcess } from './own-process.ts';

/** The instance of a user's class: `kind` and `target` as in bridge.py, plus any fields the kind needs. */
export interface LoadRequest extends JsonObject {
  kind: 'tool' | 'reward' | 'interaction' | 'env' | 'agent';
}

/** An object in a process. */
export interface HeldObject {
  process: OwnProcess;
  /** Its name there. */
  key: string;
  about: JsonObject;
}

/**
 * Keeps one process of a user's code at a time, and starts another when that one has ended or holds work that does not end. Objects stay
 * with the process that created them; an abandoned process is ended with the last of them.
 */
export class OwnHost {
  readonly #open: OpenProcess;
  #current: OwnProcess | null = null;
  readonly #loaded = new WeakMap<OwnProcess, Map<string, Promise<HeldObject>>>();
  readonly #held = new Map<OwnProcess, number>();
  #nextKey = 1;
  #isClosed = false;

  constructor(open: OpenProcess) {
    this.#open = open;
  }

  /** The object shared by all callers with the same request. @throws CannotLoadError */
  shared(request: LoadRequest, signal?: AbortSignal): Promise<HeldObject> {
    const process = this.process();
    const loaded = this.#loaded.get(process) ?? new Map<string, Promise<HeldObject>>();
    this.#loaded.set(process, loaded);
    const name = JSON.stringify(request);
    const known = loaded.get(name);
    if (known !== undefined) return known;
    // Loading is shared: aborting the first caller must not abort the others.
    const held = this.#load(process, request, undefined);
    held.catch(() => {});
    loaded.set(name, held);
    return signal === undefined ? held : raced(held, signal);
  }

  /** A private object, in the process of `beside` if given. */
  own(request: LoadRequest, signal?: AbortSignal, beside?: OwnProcess): Promise<HeldObject> {
    return this.#load(beside ?? this.process(), request, signal);
  }

  /** The process for new work. */
  process(): OwnProcess {
    if (this.#isClosed) throw new OwnCodeError('the run is over', { fault: 'world' });
    if (this.#current === null || this.#current.isDead || this.#current.isTainted) {
      const left = this.#current;
      this.#current = this.#open();
      if (left !== null) this.#endIfLeft(left);
    }
    return this.#current;
  }

  /** Marks one more user of the process until `free`. */
  hold(process: OwnProcess): void {
    this.#held.set(process, (this.#held.get(process) ?? 0) + 1);
  }

  free(process: OwnProcess): void {
    const left = (this.#held.get(process) ?? 1) - 1;
    if (left > 0) this.#held.set(process, left);
    else this.#held.delete(process);
    this.#endIfLeft(process);
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.kill();
    for (const process of this.#held.keys()) process.kill();
    this.#held.clear();
  }

  async #load(process: OwnProcess, request: LoadRequest, signal: AbortSignal | undefined): Promise<HeldObject> {
    const key = `${request.kind}-${this.#nextKey++}`;
    const about = await process.request({ ...request, op: 'load', as: key }, signal);
    return { process, key, about: objectIn(about) };
  }

  #endIfLeft(process: OwnProcess): void {
    if (process !== this.#current && !this.#held.has(process)) process.kill();
  }
}

async function raced<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Calls a method of the adapter around the user's object. */
export const callHeld = (
  { process, key }: Pick<HeldObject, 'process' | 'key'>,
  method: string,
  args: readonly JsonValue[],
  signal?: AbortSignal,
  more: JsonObject = {},
): Promise<JsonValue> => process.request({ op: 'call', object: key, method, args: [...args], ...more }, signal);
