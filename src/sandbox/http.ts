// One HTTP exchange in JSON. node:http and not fetch: undici gives up 300 s after the request when no header came, and
// a program may be allowed to run longer than that.
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { onAbort } from './abort.ts';

/** Kept alive between requests: a run of thousands of programs must not use up the machine's ports. */
const agents = { 'http:': new HttpAgent({ keepAlive: true }), 'https:': new HttpsAgent({ keepAlive: true }) };
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface HttpRequest {
  url: string;
  method: 'GET' | 'POST';
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Over the whole exchange; not finite: none. */
  timeoutMs: number;
  /** On a connection of its own: a kept one may be closed by the server just as the request goes out. */
  fresh?: boolean;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
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

/** @throws {ConnectionError | ClientTimeoutError}, or the signal's reason when it was aborted */
export function exchange({ url, method, body, headers, signal, timeoutMs, fresh }: HttpRequest): Promise<HttpAnswer> {
  const target = new URL(url);
  const secure = target.protocol === 'https:';
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const payload = body === undefined ? undefined : Buffer.from(body);
    const request = (secure ? httpsRequest : httpRequest)(target, {
      method,
      agent: fresh ? false : agents[secure ? 'https:' : 'http:'],
      headers: {
        accept: 'application/json',
        ...(payload && { 'content-type': 'application/json', 'content-length': String(payload.length) }),
        ...headers,
      },
    });
    const timer =
      timeoutMs <= LONGEST_TIMER_MS
        ? setTimeout(() => {
            end(() => reject(new ClientTimeoutError(`no answer within ${(timeoutMs / 1000).toFixed(1)} s`)));
          }, timeoutMs)
        : undefined;
    /** Settles first, then cuts the connection: the server sees a hang-up and frees the place. */
    const end = (settle: () => void, cut = true) => {
      clearTimeout(timer);
      stopListening();
      settle();
      if (cut) request.destroy();
    };
    const broken = (error: Error) => end(() => reject(new ConnectionError(reasonOf(error), { cause: error })));

    const stopListening = onAbort(signal, () => end(() => reject(signal?.reason)));
    request.on('error', broken);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_ANSWER_BYTES) broken(new Error(`the answer is larger than ${MAX_ANSWER_BYTES >> 20} MB`));
      });
      response.on('error', broken);
      response.on('close', () => {
        if (!response.complete) return broken(new Error('the connection was closed before the end of the answer'));
        const text = Buffer.concat(chunks).toString('utf8');
        end(() => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }), false);
      });
    });
    request.end(payload);
  });
}

/** Node reports a refused `localhost` as an AggregateError without a message. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map((one: Error) => one.message).join('; ');
  return error.message || error.name;
}
