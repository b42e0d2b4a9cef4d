import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';

// Node's own client and not fetch: fetch ends a request whose answer takes five minutes, and refuses ports such as 6000.
const agents = {
  'http:': new PlainAgent({ keepAlive: true, maxFreeSockets: 1024 }),
  'https:': new SecureAgent({ keepAlive: true, maxFreeSockets: 1024 }),
};

/** Sends a POST and resolves with the open response; what is wrong with the connection rejects, or ends the response with an error. */
export function post(
  url: string,
  headers: Record<string, string>,
  payload: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const target = new URL(url);
  const isSecure = target.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isSecure ? secureRequest : plainRequest)(
      target,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(payload)) },
        agent: isSecure ? agents['https:'] : agents['http:'],
        signal,
      },
      resolve,
    );
    request.on('error', reject);
    request.end(payload);
  });
}

/** The first characters of a body, as text. */
export async function bodyText(response: AsyncIterable<Uint8Array>, limit = 1 << 16): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response) {
    parts.push(chunk);
    size += chunk.length;
    if (size > limit) break;
  }
  return Buffer.concat(parts).toString('utf8');
}
