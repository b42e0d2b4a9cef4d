import { Agent, Client, type Dispatcher, request as send } from 'undici';
import { linked } from '../async/abort.ts';

/**
 * Undici's own time limits are off: a program in a sandbox, or a model, may take longer than its five minutes.
 * Connections are kept, so that a run of thousands of requests does not use up the machine's ports.
 */
const WITHOUT_LIMITS = { headersTimeout: 0, bodyTimeout: 0, connections: null } as const;
const agent = new Agent(WITHOUT_LIMITS);

const MAX_ANSWER_BYTES = 256 << 20;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface HttpRequest {
  url: string;
  method: 'GET' | 'POST';
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Milliseconds without a byte after which the answer is given up; none without it. */
  silentMs?: number;
  /** On a connection of its own: the server may close a kept one just as the request goes out. */
  fresh?: boolean;
}

/** An answer whose body is still to be read. */
export interface OpenAnswer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Dispatcher.ResponseData['body'];
}

export interface HttpAnswer extends Omit<OpenAnswer, 'body'> {
  text: string;
}

/** No answer came: refused, reset, unknown host, broken off. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
}

/** The answer took longer than the caller was willing to wait. */
export class ClientTimeoutError extends Error {
  override name = 'ClientTimeoutError';
}

/** Sends a request, and resolves once the head of the answer is there. @throws ConnectionError, or the signal's reason */
export async function open({
  url,
  method,
  body,
  headers,
  signal,
  silentMs = 0,
  fresh = false,
}: HttpRequest): Promise<OpenAnswer> {
  signal?.throwIfAborted();
  const dispatcher = fresh ? new Client(new URL(url).origin, { headersTimeout: 0, bodyTimeout: 0 }) : agent;
  try {
    const answer = await send(url, {
      method,
      dispatcher,
      headersTimeout: silentMs,
      bodyTimeout: silentMs,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    return { status: answer.statusCode, headers: firstValues(answer.headers), body: answer.body };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw connectionError(error);
  } finally {
    // Closing waits until the answer that is open has been read.
    if (fresh) void dispatcher.close().catch(() => {});
  }
}

/**
 * One exchange whose whole answer is read. @param timeoutMs over the whole exchange; not finite: none
 * @throws ConnectionError | ClientTimeoutError, or the signal's reason
 */
export async function exchange(request: HttpRequest & { timeoutMs: number }): Promise<HttpAnswer> {
  const { timeoutMs, signal } = request;
  const { abort, unlink } = linked(signal);
  const late = () => abort.abort(new ClientTimeoutError(`no answer within ${timeoutMs / 1000} s`));
  const timer = timeoutMs <= LONGEST_TIMER_MS ? setTimeout(late, timeoutMs) : undefined;
  try {
    const { body, ...head } = await open({ ...request, signal: abort.signal });
    return { ...head, text: await wholeText(body) };
  } catch (error) {
    if (abort.signal.aborted) throw abort.signal.reason;
    throw error instanceof ConnectionError ? error : connectionError(error);
  } finally {
    clearTimeout(timer);
    unlink();
  }
}

async function wholeText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new ConnectionError(`the answer is larger than ${MAX_ANSWER_BYTES >> 20} MB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const firstValues = (headers: Record<string, string | string[] | undefined>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]));

const connectionError = (error: unknown): ConnectionError =>
  new ConnectionError(reasonOfConnection(error), { cause: error });

/** Why a connection failed. Node reports a refused `localhost` as an AggregateError without a message of its own. */
export function reasonOfConnection(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join('; ');
  const { message, code, name } = error as NodeJS.ErrnoException;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return 'no byte came for too long';
  if (code === 'UND_ERR_SOCKET') return 'the connection was closed before the end of the answer';
  return message || code || name || 'the connection failed';
}
