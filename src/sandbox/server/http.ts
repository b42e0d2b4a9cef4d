// The HTTP half of the server: it answers as FastAPI does (sandboxfusion.md, section 1), reads bodies up to a limit,
// and tells a handler at once when its client has hung up.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { JsonError, parsePythonJson } from '../../json/parse.ts';
import { type Printable, printJson } from '../../json/print.ts';
import { RequestError } from '../request-error.ts';
import type { Places } from './places.ts';
import type { Answer, Route } from './routes.ts';
import { loneSurrogate } from './runner.ts';

/** Seconds that a client shall wait after a 429 or 503. */
const RETRY_AFTER = '1';

export interface HttpOptions {
  routes: ReadonlyMap<string, Route>;
  places: Places;
  token: string | null;
  bodyLimit: number;
  log: (line: string) => void;
}

export function httpServer(options: HttpOptions): Server {
  return createServer(async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(new DOMException('the client hung up', 'AbortError'));
    });
    try {
      await answer(request, response, gone.signal, options);
    } catch (error) {
      if (!gone.signal.aborted) fail(response, error, options.log);
    }
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
  { routes, places, token, bodyLimit }: HttpOptions,
): Promise<void> {
  const { pathname, search } = new URL(`http://host${request.url ?? '/'}`);
  if (token !== null && !authorised(request, token)) {
    const detail = 'this server needs its token: Authorization: Bearer TOKEN, or http://:TOKEN@host as the URL';
    return sendJson(response, 401, { detail }, { 'www-authenticate': 'Bearer' });
  }
  if (token === null && fromForeignPage(request)) {
    return sendJson(response, 403, { detail: 'pages of other sites may not run programs here' });
  }
  const route = routes.get(pathname);
  if (!route) {
    const bare = pathname.replace(/\/$/, '');
    if (bare !== pathname && routes.has(bare)) {
      const location = `http://${request.headers.host ?? 'localhost'}${bare}${search}`;
      response.writeHead(307, { location, 'content-length': '0' }).end();
      return;
    }
    return sendJson(response, 404, { detail: 'Not Found' });
  }
  if (request.method !== route.method) {
    return sendJson(response, 405, { detail: 'Method Not Allowed' }, { allow: route.method });
  }
  const body = route.method === 'POST' ? await readBody(request, bodyLimit) : Buffer.alloc(0);
  const parsed = parseBody(request, body);
  if ('error' in parsed) return sendJson(response, 422, { detail: [parsed.error] });
  if (route.runs) places.admit();
  send(response, await route.handle(parsed.value, signal));
}

function send(response: ServerResponse, answer: Answer): void {
  if ('html' in answer) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(answer.html);
  } else if ('invalid' in answer) sendJson(response, 422, { detail: answer.invalid });
  else sendJson(response, 200, answer.json);
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  const text = printJson(value as Printable);
  // Upstream cannot write half a surrogate pair, and answers so.
  const broken = status === 500 ? null : loneSurrogate(text, true);
  if (broken) {
    sendJson(response, 500, { detail: broken, traceback: [broken] });
    return;
  }
  const bytes = Buffer.from(text);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers })
    .end(bytes);
}

function fail(response: ServerResponse, error: unknown, log: (line: string) => void): void {
  if (response.headersSent) {
    response.destroy();
  } else if (error instanceof RequestError) {
    const again: Record<string, string> =
      error.status === 429 || error.status === 503 ? { 'retry-after': RETRY_AFTER } : {};
    // After a 413 the rest of the body is still coming.
    const close: Record<string, string> = error.status === 413 || error.status === 503 ? { connection: 'close' } : {};
    sendJson(response, error.status, error.body, { ...again, ...close });
  } else {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    log(`error: ${stack ?? message}`);
    sendJson(response, 500, { detail: message, traceback: [message] });
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** As a bearer token, or as the password of a URL: SandboxFusion's Python client can be given only the latter. */
function authorised(request: IncomingMessage, token: string): boolean {
  const [scheme, value = ''] = (request.headers.authorization ?? '').split(' ', 2);
  const given =
    scheme?.toLowerCase() === 'basic'
      ? Buffer.from(value, 'base64')
          .toString()
          .replace(/^[^:]*:/, '')
      : value;
  return timingSafeEqual(digest(given), digest(token));
}

/** A browser names the page that asks. Any site could otherwise reach a server on loopback through its visitor. */
function fromForeignPage({ headers }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  try {
    return new URL(origin).host !== headers.host;
  } catch {
    return true;
  }
}

function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else {
        chunks.length = 0; // and the rest is read and dropped, or the client would never see the answer
        reject(new RequestError(413, `the body is over ${limit} bytes`));
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

type Parsed = { value: unknown } | { error: Record<string, unknown> };

/** FastAPI reads JSON where the content type says so or is missing; any other body is a string to it. */
function parseBody(request: IncomingMessage, body: Buffer): Parsed {
  if (body.length === 0) return { value: undefined };
  const type = (request.headers['content-type'] ?? 'application/json').split(';')[0]!.trim().toLowerCase();
  const text = body.toString('utf8');
  if (!/^application\/(?:json|[^/]*\+json)$/.test(type)) return { value: text };
  try {
    return { value: parsePythonJson(text) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { offset, message } = error;
    return {
      error: {
        type: 'json_invalid',
        loc: ['body', offset],
        msg: 'JSON decode error',
        input: {},
        ctx: { error: message },
      },
    };
  }
}
