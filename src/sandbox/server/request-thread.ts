// Serves requests one after another in a separate thread: a body of 100 MB, judging a hundred cases, or an answer of
// many MB never blocks the thread that accepts connections and answers /v1/ping.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MessagePort } from 'node:worker_threads';
import { onAbort } from '../../core/async/abort.ts';
import { loadTables } from '../datasets/datasets.ts';
import { RequestError } from '../request-error.ts';
import { answerOf, answerTo } from './answer.ts';
import { type Backend, type Job, type Outcome, SandboxFault } from './backends/backend.ts';
import { runJupyterOn } from './jupyter.ts';
import type { FromThread, RawRequest, ThreadData, ToThread, WireError, WireJob } from './request-thread-protocol.ts';
import type { Route } from './route.ts';
import { routesOf } from './routes.ts';
import { runCodeOn } from './runner.ts';

/** The request that programs are run for. */
const asking = new AsyncLocalStorage<string>();

export async function serveRequests(port: MessagePort, data: ThreadData): Promise<void> {
  const post = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
  const backend = new DistantBackend(post, data);
  let routes: ReadonlyMap<string, Route>;
  try {
    const run = runCodeOn(backend, data.options);
    routes = routesOf({
      run,
      runJupyter: runJupyterOn(backend, data.options),
      tables: await loadTables(data.datasets),
      privateRoot: backend.name === 'bubblewrap',
      casesAtOnce: data.casesAtOnce,
    });
  } catch (error) {
    post({ kind: 'refused', message: error instanceof Error ? error.message : String(error) });
    return;
  }
  const open = new Map<number, AbortController>();
  const serve = async (request: RawRequest) => {
    const gone = new AbortController();
    open.set(request.id, gone);
    try {
      const log = (line: string) => post({ kind: 'log', line });
      const answer = await asking.run(request.client, () => answerTo(request, routes, gone.signal, log));
      if (!gone.signal.aborted) post({ kind: 'answer', id: request.id, answer }, [answer.body.buffer]);
    } finally {
      open.delete(request.id);
    }
  };
  port.on('message', (message: ToThread) => {
    if (message.kind === 'request') void serve(message.request);
    else if (message.kind === 'print') {
      const answer = answerOf({ json: message.value });
      post({ kind: 'answer', id: message.id, answer }, [answer.body.buffer]);
    } else if (message.kind === 'gone')
      open.get(message.id)?.abort(new DOMException('the client hung up', 'AbortError'));
    else backend.hear(message);
  });
  post({ kind: 'ready' });
}

interface Call {
  watch: Job['watch'];
  resolve: (outcome: Outcome) => void;
  reject: (error: Error) => void;
}

/** The main thread's backend, as seen from a request thread. */
class DistantBackend implements Backend {
  readonly name: Backend['name'];
  readonly languages: Backend['languages'];
  readonly limits: Backend['limits'] = new Set();
  readonly #post: (message: FromThread, transfer?: ArrayBuffer[]) => void;
  readonly #calls = new Map<number, Call>();
  #next = 0;

  constructor(post: (message: FromThread, transfer?: ArrayBuffer[]) => void, { backend }: ThreadData) {
    this.#post = post;
    this.name = backend.name as Backend['name'];
    this.languages = new Set(backend.languages);
  }

  execute(job: Job, signal?: AbortSignal): Promise<Outcome> {
    const call = this.#next++;
    const { code, stdin, files, watch, ...rest } = job;
    const wire: WireJob = {
      ...rest,
      code: ownBytes(code),
      stdin: stdin === null ? null : ownBytes(stdin),
      files: [...files].map(([name, content]) => [name, ownBytes(content)]),
      watched: watch !== undefined,
      client: asking.getStore() ?? '',
    };
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const forget = onAbort(signal, () => {
        this.#calls.delete(call);
        this.#post({ kind: 'abort', call });
        reject(signal?.reason);
      });
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T) => {
          forget();
          this.#calls.delete(call);
          how(value);
        };
      this.#calls.set(call, { watch, resolve: settle(resolve), reject: settle(reject) });
      const parts = [wire.code, ...(wire.stdin ? [wire.stdin] : []), ...wire.files.map(([, content]) => content)];
      this.#post({ kind: 'execute', call, job: wire }, [...new Set(parts.map(({ buffer }) => buffer))]);
    });
  }

  hear(message: Exclude<ToThread, { kind: 'request' | 'print' | 'gone' }>): void {
    const call = this.#calls.get(message.call);
    if (message.kind === 'chunk') {
      call?.watch?.(Buffer.from(message.chunk), () => this.#post({ kind: 'stop', call: message.call }));
    } else if (message.kind === 'outcome') {
      const { files, ...results } = message.outcome;
      call?.resolve({ ...results, files: new Map([...files].map(([name, content]) => [name, Buffer.from(content)])) });
    } else call?.reject(errorOf(message.error));
  }

  async close(): Promise<void> {}
}

/** Bytes with their own buffer, which can be transferred. */
function ownBytes(content: string | Buffer): Uint8Array<ArrayBuffer> {
  if (typeof content === 'string') return new TextEncoder().encode(content);
  const whole = content.byteOffset === 0 && content.byteLength === content.buffer.byteLength;
  return whole ? new Uint8Array(content.buffer as ArrayBuffer) : new Uint8Array(content);
}

function errorOf({ kind, message, status, explanation }: WireError): Error {
  if (kind === 'fault') return new SandboxFault(message);
  return kind === 'request' ? new RequestError(status, message, explanation) : new Error(message);
}
