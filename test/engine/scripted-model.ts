// An OpenAI-compatible model server on loopback that answers by its script.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ScriptedCall {
  id?: string;
  name: string;
  arguments: string;
}

/** The server's reaction to one request. */
export interface Reply {
  text?: string;
  reasoning?: string;
  /** Native tool calls. */
  calls?: ScriptedCall[];
  finish?: 'stop' | 'length' | 'tool_calls';
  usage?: { prompt_tokens: number; completion_tokens: number };
  /** Answers with this status instead. */
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  /** Closes the connection after so many events. */
  dropAfter?: number;
  /** Milliseconds before the first byte. */
  delay?: number;
  /** Answers in one piece of JSON, as a server does that does not stream. */
  whole?: boolean;
  /** For /generate. */
  ids?: number[];
  logprobs?: number[];
}

// biome-ignore lint/suspicious/noExplicitAny: a test's own wire, looked into freely.
export type Body = any;
export type Script = (
  body: Body,
  request: { number: number; headers: IncomingMessage['headers'] },
) => Reply | Promise<Reply>;

export interface ScriptedModel {
  /** Up to and with /v1. */
  url: string;
  /** Bodies of all requests, in the order of their coming. */
  requests: Body[];
  close(): Promise<void>;
}

export async function scriptedModel(script: Script, { keepRequests = true } = {}): Promise<ScriptedModel> {
  const requests: Body[] = [];
  let count = 0;
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body: Body = JSON.parse(Buffer.concat(parts).toString('utf8'));
    const number = count++;
    if (keepRequests) requests.push(body);
    const reply = await script(body, { number, headers: request.headers });
    if (reply.delay) await new Promise((resolve) => setTimeout(resolve, reply.delay));
    if (reply.status) {
      response.writeHead(reply.status, reply.headers).end(reply.body ?? '{"error":"scripted"}');
    } else if (request.url === '/generate') answerIds(response, body, reply);
    else if (request.url === '/v1/chat/completions') answerChat(response, reply);
    else response.writeHead(404).end(`no ${request.url}`);
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 2048, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answerChat(response: ServerResponse, reply: Reply): void {
  const { text = '', reasoning, calls = [], usage = { prompt_tokens: 10, completion_tokens: 5 } } = reply;
  const finish = reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop');
  if (reply.whole) {
    const message = {
      role: 'assistant',
      content: text,
      ...(reasoning ? { reasoning_content: reasoning } : {}),
      tool_calls: calls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name, arguments: args },
      })),
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: finish }], usage }));
    return;
  }
  const half = Math.ceil(text.length / 2);
  const deltas = [
    ...(reasoning ? [{ reasoning_content: reasoning }] : []),
    ...[text.slice(0, half), text.slice(half)].filter((piece) => piece !== '').map((content) => ({ content })),
    ...calls.flatMap(({ id, name, arguments: args }, index) => {
      const middle = Math.ceil(args.length / 2);
      return [
        { tool_calls: [{ index, id, type: 'function', function: { name, arguments: args.slice(0, middle) } }] },
        { tool_calls: [{ index, function: { arguments: args.slice(middle) } }] },
      ];
    }),
  ];
  const events: unknown[] = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    { choices: [], usage },
  ];
  stream(response, events, reply.dropAfter);
}

/** As SGLang: every event holds the turn so far. */
function answerIds(response: ServerResponse, body: Body, reply: Reply): void {
  const { text = '', ids = [], logprobs = ids.map(() => -0.5), finish = 'stop' } = reply;
  const upTo = (count: number, isLast: boolean) => ({
    text: isLast ? text : text.slice(0, count),
    output_ids: ids.slice(0, count),
    meta_info: {
      finish_reason: isLast ? { type: finish } : null,
      prompt_tokens: body.input_ids.length,
      completion_tokens: count,
      output_token_logprobs: ids.slice(0, count).map((id, at) => [logprobs[at], id, null]),
    },
  });
  if (!body.stream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(upTo(ids.length, true)));
    return;
  }
  const half = Math.ceil(ids.length / 2);
  stream(response, [upTo(half, false), upTo(ids.length, true)], reply.dropAfter);
}

function stream(response: ServerResponse, events: unknown[], dropAfter: number | undefined): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const kept = dropAfter === undefined ? events : events.slice(0, dropAfter);
  const text = kept.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  if (dropAfter === undefined) response.end(`${text}data: [DONE]\n\n`);
  // The pieces must have left before the connection is cut, else the client sees none of them.
  else response.write(text, () => setImmediate(() => response.destroy()));
}
