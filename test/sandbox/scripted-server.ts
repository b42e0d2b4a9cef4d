// A loopback HTTP server that answers by a test's script: for failures that a real sandbox cannot be asked for.
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Seen {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** Resolves when the client closed the connection before it got an answer. */
  hungUp: Promise<void>;
}

export type Reply =
  | { status?: number; headers?: OutgoingHttpHeaders; json?: unknown; text?: string; cutAfter?: number }
  | 'reset'
  | 'silence';

export interface ScriptedServer {
  url: string;
  seen: Seen[];
  close(): Promise<void>;
}

export async function scriptedServer(
  reply: (seen: Seen, index: number) => Reply | Promise<Reply>,
): Promise<ScriptedServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const hungUp = new Promise<void>((resolve) => response.on('close', () => !response.writableEnded && resolve()));
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      hungUp,
    };
    const index = seen.push(one) - 1;
    const answer = await reply(one, index);
    if (answer === 'silence') return;
    if (answer === 'reset') return void request.socket.destroy();
    const { status = 200, headers = {}, json, text = JSON.stringify(json), cutAfter } = answer;
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(cutAfter !== undefined && { 'content-length': String(text.length) }),
      ...headers,
    });
    if (cutAfter === undefined) return void response.end(text);
    response.write(text.slice(0, cutAfter), () => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A sandbox's answer for a program that printed this. */
export const printed = (stdout: string, more: object = {}) => ({
  status: 'Success',
  message: '',
  compile_result: null,
  run_result: { status: 'Finished', execution_time: 0.01, return_code: 0, stdout, stderr: '' },
  executor_pod_name: null,
  files: {},
  ...more,
});
