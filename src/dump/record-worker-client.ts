import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { GroupKey } from '../rollout/group-key.ts';

export interface WorkerRequest {
  id: number;
  path: string;
  /** Offset and byte length of each record, alternating. */
  places: Float64Array;
  validation: boolean;
  wantsKeys: boolean;
}

export interface WorkerAnswer {
  id: number;
  /** Packed facts, 0 where a record could not be read. */
  facts: Uint32Array;
  scores: Float64Array;
  hasScore: Uint8Array;
  /** Group keys, null for a bad record; empty unless asked for. */
  keys: (GroupKey | null)[];
}

/** A thread that parses records. It starts with the first request and never keeps the program alive. */
export class RecordWorker {
  #worker: Worker | null = null;
  #waiting = new Map<number, (answer: WorkerAnswer | null) => void>();
  #nextId = 1;
  #isClosed = false;

  /** @returns null when the thread ended before it answered */
  ask(request: Omit<WorkerRequest, 'id'>): Promise<WorkerAnswer | null> {
    // An index that ends after the dump was closed must not start a thread that nobody ends.
    if (this.#isClosed) return Promise.resolve(null);
    this.#worker ??= this.#start();
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker?.postMessage({ ...request, id } satisfies WorkerRequest, [request.places.buffer as ArrayBuffer]);
    });
  }

  #start(): Worker {
    // Built: a file beside the bundle. In tests the sources run, and the built worker serves them.
    const beside = new URL('./workers/record-worker.js', import.meta.url);
    const built = existsSync(beside) ? beside : new URL('../../dist/workers/record-worker.js', import.meta.url);
    const worker = new Worker(fileURLToPath(built));
    worker.unref();
    worker.on('message', (answer: WorkerAnswer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    worker.on('error', () => this.#fail());
    worker.on('exit', () => this.#fail());
    return worker;
  }

  #fail(): void {
    this.#worker = null;
    for (const resolve of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
  }

  close(): void {
    this.#isClosed = true;
    void this.#worker?.terminate();
    this.#fail();
  }
}
