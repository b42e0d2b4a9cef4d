// The main thread's view of the request threads. One that runs out of memory ends alone: its requests are answered 504, and
// a new one replaces it.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { itemAt } from '../../core/lists/at.ts';
import { RequestError } from '../request-error.ts';
import type { Backend, Outcome } from './backends/backend.ts';
import { SandboxFault } from './backends/backend.ts';
import { setClient } from './clients.ts';
import type {
  FromThread,
  RawAnswer,
  RawRequest,
  ThreadData,
  ToThread,
  WireError,
  WireJob,
} from './request-thread-protocol.ts';

/** The first thread handles sessions and small requests; long ones go to the other. */
const THREADS = 2;
const LONG_BODY = 1024 * 1024;
/** The heap of each request thread, in MB. One body of 128 MB, as text and parsed, needs 700. */
const HEAP_MB = 2048;

export interface ThreadServices {
  execute: Backend['execute'];
  log: (line: string) => void;
}

interface ThreadRequest {
  resolve: (answer: RawAnswer) => void;
  reject: (error: Error) => void;
}

export class RequestThreads {
  readonly #threads: RequestThread[];

  /** @throws {Error} for a data set that cannot be read */
  static async open(data: ThreadData, services: ThreadServices): Promise<RequestThreads> {
    const threads = Array.from({ length: THREADS }, () => new RequestThread(data, services));
    try {
      await Promise.all(threads.map((thread) => thread.ready()));
    } catch (error) {
      await Promise.all(threads.map((thread) => thread.close()));
      throw error;
    }
    return new RequestThreads(threads);
  }

  private constructor(threads: RequestThread[]) {
    this.#threads = threads;
  }

  /** Rejects when the client hangs up or the request thread ends. */
  answer(request: Omit<RawRequest, 'id'>, signal: AbortSignal): Promise<RawAnswer> {
    const isSession = /^\/(?:start_instance|process_action|postprocess|compute_reward)\b/.test(request.url);
    const thread = isSession || request.body.length < LONG_BODY ? itemAt(this.#threads, 0) : itemAt(this.#threads, 1);
    return thread.answer(request, signal);
  }

  print(value: unknown, signal: AbortSignal): Promise<RawAnswer> {
    return itemAt(this.#threads, 1).print(value, signal);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

class RequestThread {
  readonly #data: ThreadData;
  readonly #services: ThreadServices;
  readonly #asked = new Map<number, ThreadRequest>();
  readonly #calls = new Map<number, { abort: AbortController; stop: () => void }>();
  #worker: Promise<Worker>;
  #next = 0;
  #closed = false;

  constructor(data: ThreadData, services: ThreadServices) {
    this.#data = data;
    this.#services = services;
    this.#worker = this.#start();
    this.#worker.catch(() => {}); // reported by ready
  }

  async ready(): Promise<void> {
    await this.#worker;
  }

  #start(): Promise<Worker> {
    const worker = new Worker(findWorker(), {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      stdin: false,
    });
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'ready') {
          worker.unref();
          resolve(worker);
        } else if (message.kind === 'refused') reject(new Error(message.message));
        else this.#hear(worker, message);
      });
      worker.on('error', (error) => {
        this.#services.log(`a request thread ended: ${error.message}`);
        reject(error);
      });
      worker.on('exit', () => this.#ended());
    });
  }

  #ended(): void {
    for (const { abort } of this.#calls.values())
      abort.abort(new DOMException('the request thread has ended', 'AbortError'));
    this.#calls.clear();
    for (const { reject } of this.#asked.values())
      reject(new RequestError(504, 'the server had no memory left for this request; ask again later'));
    this.#asked.clear();
    if (this.#closed) return;
    this.#worker = this.#start();
    this.#worker.catch(() => {});
  }

  #hear(worker: Worker, message: Exclude<FromThread, { kind: 'ready' | 'refused' }>): void {
    if (message.kind === 'log') this.#services.log(message.line);
    else if (message.kind === 'answer') this.#asked.get(message.id)?.resolve(message.answer);
    else if (message.kind === 'execute') void this.#execute(worker, message.call, message.job);
    else if (message.kind === 'stop') this.#calls.get(message.call)?.stop();
    else this.#calls.get(message.call)?.abort.abort(new DOMException('the client hung up', 'AbortError'));
  }

  async #execute(worker: Worker, call: number, job: WireJob): Promise<void> {
    const post = (message: ToThread) => worker.postMessage(message);
    const state = { abort: new AbortController(), stop: () => {} };
    this.#calls.set(call, state);
    const { watched, code, stdin, files, client, ...rest } = job;
    setClient(state.abort.signal, client);
    try {
      const outcome: Outcome = await this.#services.execute(
        {
          ...rest,
          code: asBuffer(code),
          stdin: stdin && asBuffer(stdin),
          files: new Map(files.map(([name, content]) => [name, asBuffer(content)])),
          ...(watched && {
            watch: (chunk: Buffer, stop: () => void) => {
              state.stop = stop;
              post({ kind: 'chunk', call, chunk });
            },
          }),
        },
        state.abort.signal,
      );
      post({ kind: 'outcome', call, outcome });
    } catch (error) {
      post({ kind: 'failed', call, error: wireError(error) });
    } finally {
      this.#calls.delete(call);
    }
  }

  answer(request: Omit<RawRequest, 'id'>, signal: AbortSignal): Promise<RawAnswer> {
    return this.#ask(signal, (id) => [{ kind: 'request', request: { ...request, id } }, [request.body.buffer]]);
  }

  print(value: unknown, signal: AbortSignal): Promise<RawAnswer> {
    return this.#ask(signal, (id) => [{ kind: 'print', id, value }, []]);
  }

  async #ask(signal: AbortSignal, message: (id: number) => [ToThread, ArrayBuffer[]]): Promise<RawAnswer> {
    const worker = await this.#worker;
    signal.throwIfAborted();
    const id = this.#next++;
    const hangUp = () => {
      worker.postMessage({ kind: 'gone', id } satisfies ToThread);
      this.#asked.get(id)?.reject(signal.reason);
    };
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      return await new Promise<RawAnswer>((resolve, reject) => {
        this.#asked.set(id, { resolve, reject });
        worker.postMessage(...message(id));
      });
    } finally {
      this.#asked.delete(id);
      signal.removeEventListener('abort', hangUp);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker.then((worker) => worker.terminate()).catch(() => {});
  }
}

const asBuffer = (bytes: Uint8Array<ArrayBuffer>): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

function wireError(error: unknown): WireError {
  if (error instanceof RequestError)
    return { kind: 'request', message: error.message, status: error.status, explanation: error.explanation };
  const message = error instanceof Error ? error.message : String(error);
  return { kind: error instanceof SandboxFault ? 'fault' : 'other', message, status: 500 };
}

/** Beside the bundle in dist/, or in the dist/ above when running from the sources. */
function findWorker(): string {
  const name = 'workers/sandbox-request-thread.js';
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    for (const path of [join(folder, name), join(folder, 'dist', name)]) if (existsSync(path)) return path;
    if (folder === dirname(folder)) throw new Error(`${name} is missing; npm run build makes it`);
  }
}
