// A model server and the services around it, on loopback; each can be made to answer as no such server should.
import { execFileSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { directoryWith } from '../program.ts';

/** Answers in the place of the server. */
export type Trouble = (response: ServerResponse, request: IncomingMessage) => void;

const raw =
  (text: string, thenEnd = true): Trouble =>
  (_, { socket }) =>
    void (thenEnd ? socket.end(text) : socket.write(text));
const page = '<html><body>The gateway is being updated.</body></html>';
const json = '{"choices": [{"message": {"content": "#### 4"}, "finish_reason": "stop"}]}';

export const TROUBLES = {
  'a 204 without a body': (response) => void response.writeHead(204).end(),
  'an empty answer': (response) => void response.writeHead(200).end(),
  'the page of a gateway, with status 200': (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end(page),
  'a redirect in a circle': (response, { url }) => void response.writeHead(307, { location: url }).end(),
  'a compressed answer that nobody asked for': (response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1 << 20))),
  'headers of a megabyte': raw(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(1 << 20)}\r\n\r\n{}`),
  'less than its Content-Length says': raw(`HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n${json}`),
  'what is not HTTP': raw('SSH-2.0-OpenSSH_9.6\r\n'),
  'a stream of events that are no JSON': (response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: hello\n\ndata: world\n\n'),
  'an answer without an end': (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(1 << 20, ' ');
    const more = () => {
      while (!response.destroyed) if (!response.write(piece)) return;
    };
    response.on('drain', more).on('error', () => {});
    more();
  },
} as const satisfies Record<string, Trouble>;

export async function serving(answer: (body: string, response: ServerResponse, request: IncomingMessage) => void) {
  let trouble: Trouble | null = null;
  let at = '';
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    // A probe is answered, so that no run is given up.
    if (trouble !== null && body.includes(at) && !body.includes('"content":"ping"')) trouble(response, request);
    else answer(body, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** @param part of the requests that meet the trouble; all without it */
    be(own: Trouble | null, part = '') {
      trouble = own;
      at = part;
    },
    close: () => closeOf(server),
  };
}
export type Served = Awaited<ReturnType<typeof serving>>;

export function closeOf(server: Server): void {
  server.close();
  server.closeAllConnections();
}

const CALL = '<tool_call>\n{"name": "NAME", "arguments": ARGS}\n</tool_call>';
const ARGUMENTS: Record<string, string> = {
  code_interpreter: '{"code": "4"}',
  search: '{"query_list": ["four"]}',
  session: '{"content": "look"}',
  look: '{}',
  calculator: '{"a": 2, "b": 2, "op": "+"}',
};

/** A model that calls the first tool it is shown, and what its tools and its score are asked of, all well. */
export async function services() {
  const model = await serving((body, response, { method }) => {
    if (method !== 'POST') return void response.end('{}');
    const { messages, tools = [] } = JSON.parse(body);
    const { name = '' } = tools[0]?.function ?? {};
    const isFirst = messages.at(-1).role !== 'tool' && name !== '';
    const content = isFirst ? CALL.replace('NAME', name).replace('ARGS', ARGUMENTS[name]!) : '#### 4';
    const usage = { prompt_tokens: 5, completion_tokens: 5 };
    response.end(JSON.stringify({ choices: [{ message: { content }, finish_reason: 'stop' }], usage }));
  });
  const sandbox = await serving((_, response) => {
    const run_result = { status: 'Finished', execution_time: 0, return_code: 0, stdout: '4\n', stderr: '' };
    response.end(JSON.stringify({ status: 'Success', message: '', run_result }));
  });
  const reward = await serving((_, response) => void response.end('{"reward": 0.5}'));
  const retrieval = await serving(
    (_, response) => void response.end('{"result": [[{"contents": "Four\\nIt is 4."}]]}'),
  );
  const session = await serving((_, response, { url }) => {
    const answers = {
      start_instance: { sid: '7' },
      process_action: { content: 'a room' },
      compute_reward: { reward: 0.25 },
    };
    response.end(JSON.stringify(answers[url!.slice(1) as keyof typeof answers] ?? {}));
  });
  const mcp = await serving((body, response) => {
    const { id, method, params = {} } = body === '' ? ({} as Record<string, never>) : JSON.parse(body);
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
      'tools/list': {
        tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} } }],
      },
      'tools/call': { content: [{ type: 'text', text: 'a room' }] },
    };
    const result = results[method];
    if (result === undefined) return void response.writeHead(method === undefined ? 405 : 202).end();
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  return { model, sandbox, reward, retrieval, session, mcp };
}
export type Services = Awaited<ReturnType<typeof services>>;

/** A key and two certificates for 127.0.0.1, one of them expired; null without openssl. */
export function certificates(): { folder: string; key: string; cert: string; expired: string } | null {
  const folder = directoryWith({ 'san.cnf': 'subjectAltName=IP:127.0.0.1' });
  const openssl = (line: string) => execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'ignore' });
  try {
    openssl(
      'req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out asked.pem -subj /CN=localhost',
    );
    openssl('x509 -req -in asked.pem -signkey key.pem -days 2 -extfile san.cnf -out cert.pem');
    openssl('x509 -req -in asked.pem -signkey key.pem -days -1 -extfile san.cnf -out expired.pem');
  } catch {
    return null;
  }
  return { folder, key: join(folder, 'key.pem'), cert: join(folder, 'cert.pem'), expired: join(folder, 'expired.pem') };
}
