import { Agent, Client, type Dispatcher } from 'undici';
import { onAbort } from '../async/abort.ts';
import { thrownError } from '../text/thrown.ts';
import { AnswerBody } from './answer-body.ts';
import { ConnectionError, isCertificateTrouble, reasonOfConnection } from './connection-error.ts';

/**
 * Undici's time limits are off: a program in a sandbox, or a model, may take longer than its five minutes. Connections
 * are kept, so that a run of thousands of requests does not use up the machine's ports.
 */
const WITHOUT_LIMITS = { headersTimeout: 0, bodyTimeout: 0, connections: null } as const;
const agent = new Agent(WITHOUT_LIMITS);

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface HttpRequest {
  url: string;
  method: 'GET' | 'POST';
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Abort after this many milliseconds without a byte; by default never. */
  silentMs?: number;
  /** Milliseconds for the whole exchange; unlimited by default, or if not finite. */
  timeoutMs?: number;
  /** Use a new connection: the server may close a kept one just as the request goes out. */
  fresh?: boolean;
}

export interface AnswerHead {
  status: number;
  headers: Record<string, string | undefined>;
}

export interface HttpAnswer extends AnswerHead {
  text: string;
}

/** Receives an answer piece by piece. If it throws, the exchange is aborted and fails with that error. */
export interface AnswerReader {
  head(head: AnswerHead): void;
  /** @returns true if it needs no more; the rest is discarded, so that the connection can serve the next request */
  data(chunk: Uint8Array): boolean;
}

/** The answer took longer than the caller was willing to wait. */
export class ClientTimeoutError extends Error {
  override name = 'ClientTimeoutError';
}

const DRAIN_MS = 1000;

/**
 * Sends a request and passes its answer to the reader as it arrives. Callbacks, not streams: a run of rollouts sends
 * thousands of requests a second. Resolves at the answer's end, or once the reader needs no more.
 * @throws ConnectionError | ClientTimeoutError, the signal's reason, or what the reader threw
 */
export function receive(request: HttpRequest, reader: AnswerReader): Promise<void> {
  const { url, method, body, headers, signal, silentMs = 0, timeoutMs = 0, fresh = false } = request;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const { origin, path } = originAndPath(url);
    const dispatcher = fresh ? new Client(origin, { headersTimeout: 0, bodyTimeout: 0 }) : agent;
    let controller: Dispatcher.DispatchController | null = null;
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    const settle = (failure: { error: unknown } | null) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      stopListening();
      // Closing waits until the open answer has been read.
      if (fresh) void dispatcher.close().catch(() => {});
      if (failure === null) resolve();
      else reject(failure.error);
    };
    const giveUp = (error: unknown) => {
      settle({ error });
      controller?.abort(thrownError(error));
    };
    const stopListening = onAbort(signal, () => giveUp(signal!.reason));
    if (timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS) {
      const late = () => giveUp(new ClientTimeoutError(`no answer within ${timeoutMs / 1000} s`));
      timer = setTimeout(late, timeoutMs);
    }
    dispatcher.dispatch(
      {
        origin,
        path,
        method,
        headersTimeout: silentMs,
        bodyTimeout: silentMs,
        body: body ?? null,
        headers: {
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      },
      {
        onRequestStart(started) {
          controller = started;
          if (isOver) started.abort(new Error('given up before it was sent'));
        },
        onResponseStart(_, status, all) {
          if (isOver || status < 200) return;
          try {
            const headers = firstValues(all);
            refuseEncoded(headers['content-encoding']);
            reader.head({ status, headers });
          } catch (error) {
            giveUp(error);
          }
        },
        onResponseData(_, chunk) {
          if (isOver) return;
          try {
            if (!reader.data(chunk)) return;
            settle(null);
            timer = setTimeout(() => controller?.abort(new Error('the answer continues after its end')), DRAIN_MS);
          } catch (error) {
            giveUp(error);
          }
        },
        onResponseEnd() {
          clearTimeout(timer);
          settle(null);
        },
        onResponseError(_, error) {
          clearTimeout(timer);
          settle({ error: connectionError(error) });
        },
      },
    );
  });
}

let lastPlace = { url: '', origin: '', path: '' };

/** Runs ask the same address thousands of times. */
function originAndPath(url: string): { origin: string; path: string } {
  if (lastPlace.url === url) return lastPlace;
  const { origin, pathname, search } = new URL(url);
  lastPlace = { url, origin, path: pathname + search };
  return lastPlace;
}

/** One exchange that reads the whole answer. @throws ConnectionError | ClientTimeoutError, or the signal's reason */
export async function exchange(request: HttpRequest & { timeoutMs: number }): Promise<HttpAnswer> {
  const body = new AnswerBody();
  let head: AnswerHead = { status: 0, headers: {} };
  try {
    await receive(request, {
      head: (own) => {
        head = own;
      },
      data: (chunk) => {
        body.add(chunk);
        return false;
      },
    });
    return { ...head, text: body.bytes().toString('utf8') };
  } finally {
    body.release();
  }
}

/** No compression was requested, and a compressed answer may unpack to any size. */
function refuseEncoded(encoding: string | undefined): void {
  if (encoding !== undefined && !/^(?:identity)?$/i.test(encoding.trim()))
    throw new ConnectionError(
      `the answer is compressed (${encoding}), which was not requested; switch that off there`,
      {
        isFinal: true,
      },
    );
}

function firstValues(headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value[0];
  }
  return headers as Record<string, string | undefined>;
}

const connectionError = (error: unknown): ConnectionError =>
  new ConnectionError(reasonOfConnection(error), { cause: error, isFinal: isCertificateTrouble(error) });
