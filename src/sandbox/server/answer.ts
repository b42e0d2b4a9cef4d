// Turns a request's bytes into an answer's bytes, as FastAPI does (sandboxfusion.md, section 1). Independent of sockets.

import { JsonError, parsePythonJson } from '../../core/json/parse.ts';
import { printJson } from '../../core/json/print.ts';
import { itemAt } from '../../core/lists/at.ts';
import { RequestError } from '../request-error.ts';
import type { RawAnswer, RawRequest } from './request-thread-protocol.ts';
import type { Answer, Route } from './route.ts';
import { loneSurrogate } from './runner.ts';

/** Seconds a client should wait after a 429, 503 or 504. */
const RETRY_AFTER = '1';

/** Never rejects: failures are answers too. */
export async function answerTo(
  request: Omit<RawRequest, 'id'>,
  routes: ReadonlyMap<string, Route>,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<RawAnswer> {
  try {
    return await routed(request, routes, signal);
  } catch (error) {
    // A client that hung up did nothing wrong, and reads no answer.
    return failed(error, signal.aborted ? () => {} : log);
  }
}

async function routed(
  { method, url, host, contentType, body }: Omit<RawRequest, 'id'>,
  routes: ReadonlyMap<string, Route>,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const { pathname, search } = new URL(`http://host${url}`);
  const route = routes.get(pathname);
  if (!route) {
    const bare = pathname.replace(/\/$/, '');
    if (bare !== pathname && routes.has(bare)) {
      const location = `http://${host}${bare}${search}`;
      return { status: 307, headers: { location, 'content-length': '0' }, body: new Uint8Array() };
    }
    return json(404, { detail: 'Not Found' });
  }
  if (method !== route.method) return json(405, { detail: 'Method Not Allowed' }, { allow: route.method });
  const parsed = parseBody(contentType, body);
  if ('error' in parsed) return json(422, { detail: [parsed.error] });
  return answerOf(await route.handle(parsed.value, signal));
}

export function answerOf(answer: Answer): RawAnswer {
  if ('printed' in answer) return answer.printed;
  if ('html' in answer) {
    return {
      status: 200,
      // A page of another site could otherwise lay it under its own button.
      headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "frame-ancestors 'none'" },
      body: new TextEncoder().encode(answer.html),
    };
  }
  return 'invalid' in answer ? json(422, { detail: answer.invalid }) : json(200, answer.json);
}

export function failed(error: unknown, log: (line: string) => void): RawAnswer {
  if (error instanceof RequestError) {
    const again: Record<string, string> = [429, 503, 504].includes(error.status) ? { 'retry-after': RETRY_AFTER } : {};
    const close: Record<string, string> = error.status === 503 ? { connection: 'close' } : {};
    return json(error.status, error.body, { ...again, ...close });
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  log(`error: ${stack ?? message}`);
  return json(500, { detail: message, traceback: [message] });
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): RawAnswer {
  const text = printJson(value ?? null);
  // Upstream cannot write a lone surrogate, and answers like this.
  const broken = status === 500 ? null : loneSurrogate(text, true);
  if (broken) return json(500, { detail: broken, traceback: [broken] });
  const body = new TextEncoder().encode(text);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length), ...headers },
    body,
  };
}

/** FastAPI's message for any error that is not about JSON. */
const UNREADABLE = 'There was an error parsing the body';

/** Decodes as Python's json.loads does: UTF-8, or UTF-16 by the position of its zeros. Nobody sends UTF-32: null, as for invalid text. */
function decodedBody(bytes: Uint8Array): string | null {
  const [a, b, c, d] = bytes;
  const zeros = [a, b, c, d].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  const isMarked32 =
    (a === 0xff && b === 0xfe && c === 0 && d === 0) || (a === 0 && b === 0 && c === 0xfe && d === 0xff);
  if (bytes.length >= 4 && (isMarked32 || zeros === 'x000' || zeros === '000x')) return null;
  const is16 = (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) || a === 0 || (b === 0 && bytes.length > 1);
  const encoding = !is16 ? 'utf-8' : a === 0xfe || a === 0 ? 'utf-16be' : 'utf-16le';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

type Parsed = { value: unknown } | { error: Record<string, unknown> };

/** FastAPI reads JSON if the content type says so or is missing; any other body is a string to it. */
function parseBody(contentType: string | undefined, bytes: Uint8Array): Parsed {
  if (bytes.length === 0) return { value: undefined };
  const type = itemAt((contentType ?? 'application/json').split(';'), 0)
    .trim()
    .toLowerCase();
  if (!/^application\/(?:json|[^/]*\+json)$/.test(type)) return { value: Buffer.from(bytes).toString('utf8') };
  const text = decodedBody(bytes);
  if (text === null) throw new RequestError(400, UNREADABLE);
  try {
    return { value: parsePythonJson(text) };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { offset, message } = error;
    // CPython raises no JSONDecodeError for it, so FastAPI answers as for any other error.
    if (message.startsWith('Exceeds the limit')) throw new RequestError(400, UNREADABLE);
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
