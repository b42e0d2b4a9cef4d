// The HTTP half of the server: who may come in, bodies up to a limit and within the memory of all, a handler that is
// told at once when its client has hung up. What is long goes to a request thread; a short program is answered right here.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Guard, refusalOf } from '../../http/guard.ts';
import { RequestError } from '../request-error.ts';
import { answerTo, failed } from './answer.ts';
import type { Budget, Share } from './budget.ts';
import type { Places } from './places.ts';
import type { RawAnswer } from './request-thread-protocol.ts';
import type { RequestThreads } from './request-threads.ts';
import type { Answer, Route } from './route.ts';
import { runCodeRoute } from './routes.ts';

/** Bytes of a body that is read and checked in well under a millisecond. */
const SHORT_BODY = 64 * 1024;
/** Characters of an answer that is printed as fast. */
const SHORT_ANSWER = 128 * 1024;
/** The memory of a request beside its body's bytes: as text, parsed, and on its way to the program. */
const TIMES_BODY = 4;
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
/** For a client that does not take its answer. */
const ANSWER_MS = 60_000;
const MOST_CONNECTIONS = 4096;

export interface HttpOptions {
  guard: Guard;
  threads: RequestThreads;
  run: Parameters<typeof runCodeRoute>[0];
  budget: Budget;
  places: Places;
  bodyLimit: number;
  log: (line: string) => void;
}

export function httpServer(options: HttpOptions): Server {
  const short = new Map([['/run_code', printedElsewhere(runCodeRoute(options.run), options.threads)]]);
  const server = createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, noDelay: true },
    async (request, response) => {
      const gone = new AbortController();
      const share = options.budget.open();
      response.on('close', () => {
        share.close();
        if (!response.writableFinished) gone.abort(new DOMException('the client hung up', 'AbortError'));
      });
      try {
        const answer = await answered(request, short, gone.signal, share, options);
        if (!gone.signal.aborted) await send(response, answer, share, options.places);
      } catch (error) {
        if (gone.signal.aborted) return;
        if (response.headersSent) response.destroy();
        else await send(response, failed(error, options.log), share, options.places);
      }
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

const text = (body: string): RawAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
  body: new TextEncoder().encode(body),
});

async function answered(
  request: IncomingMessage,
  short: ReadonlyMap<string, Route>,
  signal: AbortSignal,
  share: Share,
  { guard, threads, bodyLimit, log }: HttpOptions,
): Promise<RawAnswer> {
  const { headers, method = 'GET', url = '/' } = request;
  const refusal = refusalOf(headers, guard);
  if (refusal) {
    request.resume();
    const challenge: Record<string, string> = refusal.status === 401 ? { 'www-authenticate': 'Bearer' } : {};
    const answer = text(JSON.stringify({ detail: refusal.detail }));
    return { ...answer, status: refusal.status, headers: { ...answer.headers, ...challenge } };
  }
  // Answered whatever else goes on: it is how a cluster asks whether the server lives.
  if (url === '/v1/ping' && method === 'GET') return text('"pong"');
  const body = await readBody(request, bodyLimit, share);
  const asked = { method, url, host: headers.host ?? 'localhost', contentType: headers['content-type'], body };
  if (body.length <= SHORT_BODY && method === 'POST' && short.has(url)) return answerTo(asked, short, signal, log);
  return threads.answer(asked, signal);
}

/** A long answer is printed by a request thread. */
function printedElsewhere(route: Route, threads: RequestThreads): Route {
  return {
    ...route,
    async handle(body, signal) {
      const answer = await route.handle(body, signal);
      return 'json' in answer && lengthOf(answer) > SHORT_ANSWER
        ? { printed: await threads.print(answer.json, signal) }
        : answer;
    },
  };
}

function lengthOf(answer: Answer & { json: unknown }): number {
  const { compile_result, run_result, files = {} } = answer.json as Record<string, Record<string, unknown> | null>;
  const parts = [compile_result?.stdout, compile_result?.stderr, run_result?.stdout, run_result?.stderr];
  return [...parts, ...Object.values(files ?? {})].reduce<number>((sum, part) => sum + String(part ?? '').length, 0);
}

/** Resolves once the client has it. */
async function send(
  response: ServerResponse,
  { status, headers, body }: RawAnswer,
  share: Share,
  places: Places,
): Promise<void> {
  await share.take(body.length);
  response.setHeader('x-sandbox-running', String(places.running));
  response.setHeader('x-sandbox-waiting', String(places.waiting));
  response.setTimeout(ANSWER_MS, () => response.destroy());
  response.writeHead(status, headers).end(body);
}

function readBody(request: IncomingMessage, limit: number, share: Share): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const tooLarge = () => {
      chunks.length = 0; // and the rest is read and dropped, or the client would never see the answer
      reject(new RequestError(413, `the body is over ${limit} bytes`));
    };
    if (Number(request.headers['content-length']) > limit) {
      request.resume();
      return tooLarge();
    }
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) return tooLarge();
      chunks.push(chunk);
      const wait = share.take(TIMES_BODY * chunk.length);
      if (wait === null) return;
      request.pause();
      wait.then(
        () => request.resume(),
        (error: Error) => {
          chunks.length = 0;
          length = Number.POSITIVE_INFINITY;
          request.resume();
          reject(error);
        },
      );
    });
    request.on('end', () => {
      const body = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
      let at = 0;
      for (const chunk of chunks) {
        body.set(chunk, at);
        at += chunk.length;
      }
      resolve(body);
    });
    request.on('error', reject);
  });
}
