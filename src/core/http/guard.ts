// Guards a port that this program opens. A page in a browser can reach loopback like its user. Its Origin gives it
// away, or, if its name was pointed at 127.0.0.1 (DNS rebinding), its Host.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface Guard {
  /** The token that each request must carry; null: none. */
  token: string | null;
  /** Accepted Host names besides loopback. */
  allowHosts: readonly string[];
}

export interface Refusal {
  status: 401 | 403;
  detail: string;
}

export const isLoopback = (host: string): boolean => /^(?:127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/i.test(host);

/** Too long to guess. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** null: allowed. */
export function refusalOf(headers: IncomingHttpHeaders, { token, allowHosts }: Guard): Refusal | null {
  if (token !== null && !authorised(headers.authorization, token)) {
    return {
      status: 401,
      detail: 'this server needs its token: Authorization: Bearer TOKEN, or http://:TOKEN@host as the URL',
    };
  }
  const { host = '', origin } = headers;
  const name = HOST.test(host) ? hostIn(`http://${host}`) : null;
  // A holder of the token was given it; a rebound name was not.
  if (token === null && (name === null || !isKnown(name, allowHosts))) {
    return { status: 403, detail: `Host ${host} is not a name of this server; --allow-host NAME lets it in` };
  }
  if (origin === undefined) return null;
  const page = hostIn(origin);
  const isOwn = page !== null && origin.toLowerCase() === `http://${host}`.toLowerCase();
  if (isOwn || (page !== null && allowHosts.includes(page))) return null;
  return { status: 403, detail: 'pages of other sites may not run programs here' };
}

/** A name or an address, and a port: URL would also accept a path or a user. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d*)?$/i;
const isKnown = (name: string, allowed: readonly string[]): boolean => isLoopback(name) || allowed.includes(name);

function hostIn(url: string): string | null {
  try {
    return new URL(url).hostname.toLowerCase();
  } catch {
    return null;
  }
}

const secretDigest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** As a bearer token, or as the password of a URL: SandboxFusion's Python client supports only the latter. */
function authorised(authorization: string | undefined, token: string): boolean {
  const [scheme, value = ''] = (authorization ?? '').split(' ', 2);
  const given =
    scheme?.toLowerCase() === 'basic'
      ? Buffer.from(value, 'base64')
          .toString()
          .replace(/^[^:]*:/, '')
      : value;
  return timingSafeEqual(secretDigest(given), secretDigest(token));
}
