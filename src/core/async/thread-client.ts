import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { itemAt } from '../lists/at.ts';

/** ms without a request until the thread ends: an idle one holds 40 MB. */
const IDLE = 2000;
/**
 * MB for young objects. Parsed records are short-lived; with Node's default the thread takes 20 MB more for the same
 * speed.
 */
const YOUNG = 8;
/** MB for old objects of a frugal thread. Below 2 GB, V8 lets its garbage grow to less than twice what is alive, else to four times. */
const FRUGAL = 2000;
/**
 * A thread that exceeds its limit in the middle of `JSON.parse` ends the whole program, so texts that might have no limit
 * but V8's own: 22 bytes of JSON can take 80.
 */
const MOST_FRUGAL = 64 << 20;

/**
 * A thread that answers requests in order. It starts with the first one, ends after a while without any, and never
 * keeps the process alive.
 */
export class ThreadClient<Request extends object, Answer extends object> {
  readonly #name: string;
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | null = null;
  #waiting = new Map<number, (answer: Answer | null) => void>();
  #nextId = 1;
  #isClosed = false;
  #isFrugal = false;

  /** @param name of the file in src/workers, without its ending */
  constructor(name: string) {
    this.#name = name;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** @returns null if the thread ended before it answered: closed, or out of memory over a record */
  ask(request: Request, transfer: readonly ArrayBufferLike[] = []): Promise<Answer | null> {
    // An index that finishes after the dump was closed must not start a thread that nothing would end.
    if (this.#isClosed) return Promise.resolve(null);
    clearTimeout(this.#idle ?? undefined);
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker?.postMessage({ id, request }, transfer as ArrayBuffer[]);
    });
  }

  /**
   * Asks a new thread, for a request that leaves much garbage: it collects it earlier. If it needs more memory than that
   * thread may take, another is asked that may take what there is.
   * @param length bytes of the text that it reads
   */
  async askFrugally(request: Request, length: number): Promise<Answer | null> {
    this.rest(length <= MOST_FRUGAL);
    const answer = await this.ask(request);
    if (answer !== null || this.#isClosed) return answer;
    this.rest();
    return this.ask(request);
  }

  #start(): Worker {
    const limits = { maxYoungGenerationSizeMb: YOUNG, ...(this.#isFrugal && { maxOldGenerationSizeMb: FRUGAL }) };
    const worker = new Worker(threadFile(this.#name), { resourceLimits: limits });
    worker.unref();
    worker.on('message', ({ id, answer }: { id: number; answer: Answer }) => {
      this.#waiting.get(id)?.(answer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#endWhenIdle(worker);
    });
    worker.on('error', (error) => {
      // A missing program will be missing the next time too.
      if ((error as NodeJS.ErrnoException).code?.endsWith('MODULE_NOT_FOUND')) this.close();
      else this.#fail(worker);
    });
    worker.on('exit', () => this.#fail(worker));
    return worker;
  }

  #endWhenIdle(worker: Worker): void {
    clearTimeout(this.#idle ?? undefined);
    this.#idle = setTimeout(() => {
      if (this.#worker === worker) this.rest();
    }, IDLE).unref();
  }

  /** Ends the thread at once if it has nothing to do: what it read may be long. The next request starts another. */
  rest(isFrugal = false): void {
    if (this.#waiting.size > 0) return;
    this.#isFrugal = isFrugal;
    void this.#worker?.terminate();
    this.#worker = null;
  }

  /** @param worker the one that ended; the end of an earlier one does not matter */
  #fail(worker: Worker | null): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const resolve of waiting) resolve(null);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#idle ?? undefined);
    void this.#worker?.terminate();
    this.#fail(this.#worker);
  }
}

/**
 * When built, a file beside the bundle. In tests the sources run, and in bench/ a bundle beside dist: both use the
 * built worker.
 */
export function threadFile(name: string): string {
  const places = ['./workers', '../dist/workers', '../../dist/workers', '../../../dist/workers'];
  const files = places.map((place) => fileURLToPath(new URL(`${place}/${name}.js`, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? itemAt(files, 0);
}
