// The HTTP half of the server: access control, bodies up to a limit and within the total memory, and handlers that
// learn at once when their client hangs up. Long requests go to a request thread; a short program is answered right here.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Guard, refusalOf } from '../../core/http/guard.ts';
import { RequestError } from '../request-error.ts';
import { answerTo, failed } from './answer.ts';
import { DESCRIPTORS } from './backends/backend.ts';
import type { Budget, Share } from './budget.ts';
import { setClient } from './clients.ts';
import type { Places } from './places.ts';
import type { RawAnswer } from './request-thread-protocol.ts';
import type { RequestThreads } from './request-threads.ts';
import type { Answer, Route } from './route.ts';
import { runCodeRoute } from './routes.ts';

/** A body of this many bytes is read and checked in well under a millisecond. */
const SHORT_BODY = 64 * 1024;
/** An answer of this many characters is printed as fast. */
const SHORT_ANSWER = 128 * 1024;
/** The memory of a request relative to its body's bytes: as text, parsed, and on its way to the program. */
const TIMES_BODY = 4;
const HEADERS_MS = 20_000;
const REQUEST_MS = 120_000;
/** Node's 5 s may be over before a busy server reads the next request of a connection, which it then resets. */
const IDLE_MS = 60_000;
/** For a client that does not read its answer. */
const ANSWER_MS = 60_000;
const MOST_CONNECTIONS = Math.floor(DESCRIPTORS / 2);
/** Requests pipelined on one connection. */
const MOST_AHEAD = 64;
/** A body in more parts than this is an attempt to keep the server busy: honest clients send 64 kB at a time. */
const MOST_PARTS = 50_000;
/** Bytes per second below which the server stops waiting for a body. */
const FAIR_SPEED = 16 * 1024;
const LONGEST_NAME = 200;
const MOST_DROPPED = 256 * 1024 * 1024;
/** The overhead of a part, in bytes. */
const PART_BYTES = 256;

export interface HttpOptions {
  guard: Guard;
  threads: RequestThreads;
  run: Parameters<typeof runCodeRoute>[0];
  budget: Budget;
  places: Places;
  bodyLimit: number;
  /** Each answer says that the programs are not behind a wall. */
  weak: boolean;
  log: (line: string) => void;
}

export function httpServer(options: HttpOptions): Server {
  const short = new Map([['/run_code', printedElsewhere(runCodeRoute(options.run), options.threads)]]);
  const callers = new Callers();
  const kept = options.weak ? { 'x-sandbox-confinement': 'weak' } : {};
  const server = createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: IDLE_MS, noDelay: true },
    async (request, response) => {
      if (!callers.asks(request.socket)) return;
      const gone = new AbortController();
      const client = clientNameOf(request);
      setClient(gone.signal, client);
      const share = options.budget.open();
      response.on('close', () => {
        callers.answered(request.socket);
        share.close();
        if (!response.writableFinished) gone.abort(new DOMException('the client hung up', 'AbortError'));
      });
      const hasCome = () => callers.hasAsked(request.socket);
      const hasSent = (bytes: number) => callers.hasSent(request.socket, bytes);
      for (const [name, value] of Object.entries(kept)) response.setHeader(name, value);
      try {
        const answer = await answered(request, short, gone.signal, share, { client, hasCome, hasSent }, options);
        if (!gone.signal.aborted) await send(response, answer, share, options.places);
      } catch (error) {
        if (gone.signal.aborted) return;
        if (response.headersSent) response.destroy();
        else await send(response, failed(error, options.log), share, options.places);
      }
    },
  );
  server.on('connection', (socket) => callers.add(socket));
  return server;
}

/** The client's token and address: one token often serves a whole cluster. */
const clientNameOf = ({ headers, socket }: IncomingMessage): string =>
  `${socket.remoteAddress ?? ''} ${headers.authorization ?? ''}`.slice(0, LONGEST_NAME);

/**
 * The connections. If there are too many, one of the address with the most is closed: the one that has kept the server
 * waiting longest, for its next request or for the rest of one. A connection is spared while its request is processed, or while its
 * body arrives at a fair speed.
 */
class Callers {
  readonly #bodies = new Map<Socket, { since: number; bytes: number }>();
  readonly #addresses = new Map<string, number>();
  readonly #ahead = new Map<Socket, number>();
  /** Those the server waits for, longest first. */
  readonly #awaited = new Set<Socket>();

  add(socket: Socket): void {
    this.#ahead.set(socket, 0);
    this.#awaited.add(socket);
    const address = socket.remoteAddress ?? '';
    this.#addresses.set(address, (this.#addresses.get(address) ?? 0) + 1);
    socket.once('close', () => {
      this.#ahead.delete(socket);
      this.#awaited.delete(socket);
      this.#bodies.delete(socket);
      const left = (this.#addresses.get(address) ?? 1) - 1;
      if (left > 0) this.#addresses.set(address, left);
      else this.#addresses.delete(address);
    });
    if (this.#ahead.size > MOST_CONNECTIONS) this.#worst(socket).destroy();
  }

  #worst(latest: Socket): Socket {
    const most = Math.max(...this.#addresses.values());
    let worst: Socket | null = null;
    for (const socket of this.#awaited) {
      if (this.#isSending(socket)) continue;
      if (this.#addresses.get(socket.remoteAddress ?? '') === most) return socket;
      worst ??= socket;
    }
    return worst ?? latest;
  }

  #isSending(socket: Socket): boolean {
    const body = this.#bodies.get(socket);
    return body !== undefined && body.bytes >= FAIR_SPEED * ((performance.now() - body.since) / 1000);
  }

  /** A part of a body has arrived. */
  hasSent(socket: Socket, bytes: number): void {
    const body = this.#bodies.get(socket);
    if (body === undefined) this.#bodies.set(socket, { since: performance.now(), bytes });
    else body.bytes += bytes;
  }

  /** A request has begun. @returns false for one too many */
  asks(socket: Socket): boolean {
    const ahead = (this.#ahead.get(socket) ?? 0) + 1;
    if (ahead > MOST_AHEAD) socket.destroy();
    else this.#ahead.set(socket, ahead);
    return ahead <= MOST_AHEAD;
  }

  /** Its whole request has arrived. */
  hasAsked(socket: Socket): void {
    this.#awaited.delete(socket);
    this.#bodies.delete(socket);
  }

  answered(socket: Socket): void {
    const ahead = this.#ahead.get(socket);
    if (ahead === undefined) return;
    this.#ahead.set(socket, ahead - 1);
    if (ahead === 1) this.#awaited.add(socket);
  }
}

const textAnswer = (body: string): RawAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
  body: new TextEncoder().encode(body),
});

async function answered(
  request: IncomingMessage,
  short: ReadonlyMap<string, Route>,
  signal: AbortSignal,
  share: Share,
  { client, hasCome, hasSent }: { client: string; hasCome: () => void; hasSent: (bytes: number) => void },
  { guard, threads, bodyLimit, log }: HttpOptions,
): Promise<RawAnswer> {
  const { headers, headersDistinct, method = 'GET', url = '/' } = request;
  if ((headersDistinct.host?.length ?? 0) > 1) {
    drop(request);
    throw new RequestError(400, 'the request has more than one Host');
  }
  const refusal = refusalOf(headers, guard);
  if (refusal) {
    drop(request);
    const challenge: Record<string, string> = refusal.status === 401 ? { 'www-authenticate': 'Bearer' } : {};
    const answer = textAnswer(JSON.stringify({ detail: refusal.detail }));
    return { ...answer, status: refusal.status, headers: { ...answer.headers, ...challenge } };
  }
  // Answered unconditionally: a cluster uses it to ask whether the server is alive.
  if (url === '/v1/ping' && method === 'GET') {
    drop(request);
    return textAnswer('"pong"');
  }
  const body = await readBody(request, bodyLimit, share, hasSent);
  hasCome();
  const asked = { method, url, host: headers.host ?? 'localhost', contentType: headers['content-type'], body, client };
  if (body.length <= SHORT_BODY && method === 'POST' && short.has(url)) return answerTo(asked, short, signal, log);
  return threads.answer(asked, signal);
}

/** A long answer is printed by a request thread. */
function printedElsewhere(route: Route, threads: RequestThreads): Route {
  return {
    ...route,
    async handle(body, signal) {
      const answer = await route.handle(body, signal);
      return 'json' in answer && answerLength(answer) > SHORT_ANSWER
        ? { printed: await threads.print(answer.json, signal) }
        : answer;
    },
  };
}

function answerLength(answer: Answer & { json: unknown }): number {
  const { compile_result, run_result, files = {} } = answer.json as Record<string, Record<string, unknown> | null>;
  const parts = [compile_result?.stdout, compile_result?.stderr, run_result?.stdout, run_result?.stderr];
  return [...parts, ...Object.values(files ?? {})].reduce<number>((sum, part) => sum + String(part ?? '').length, 0);
}

/** Resolves once the client has received it. */
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

/** Reads and drops the rest of a body, or its sender would never see the answer; but not without end. */
function drop(request: IncomingMessage): void {
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length + PART_BYTES;
    if (length > MOST_DROPPED) request.socket.destroy();
  });
}

function readBody(
  request: IncomingMessage,
  limit: number,
  share: Share,
  hasSent: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let length = 0;
    const refuse = (error: Error) => {
      chunks = [];
      request.off('data', take);
      drop(request);
      request.resume();
      reject(error);
    };
    const take = (chunk: Buffer) => {
      length += chunk.length;
      hasSent(chunk.length);
      if (length > limit) return refuse(new RequestError(413, `the body is over ${limit} bytes`));
      if (chunks.length === MOST_PARTS)
        return refuse(new RequestError(413, `the body comes in over ${MOST_PARTS} parts`));
      chunks.push(chunk);
      const wait = share.take(TIMES_BODY * chunk.length + PART_BYTES);
      if (wait === null) return;
      request.pause();
      wait.then(() => request.resume(), refuse);
    };
    if (Number(request.headers['content-length']) > limit)
      return refuse(new RequestError(413, `the body is over ${limit} bytes`));
    request.on('data', take);
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
