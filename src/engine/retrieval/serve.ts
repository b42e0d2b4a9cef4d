import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { shapeProblem } from '../../core/text/problems.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import type { Corpus } from './corpus.ts';

/** The request of verl's SearchTool (`examples/sglang_multiturn/search_r1_like`). */
const Query = z.looseObject({
  queries: z.array(z.string()).min(1).max(10_000),
  topk: z.number().int().positive().max(1000).nullish(),
  return_scores: z.boolean().nullish(),
});

const MOST_BYTES = 16 << 20;
const DEFAULT_TOPK = 3;

export interface RetrievalServer {
  url: string;
  close(): Promise<void>;
}

/** Serves `POST /retrieve` like verl's retrieval server. @throws the system's error if the address is in use */
export async function serveCorpus(
  corpus: Corpus,
  { host = '127.0.0.1', port = 0, topk = DEFAULT_TOPK }: { host?: string; port?: number; topk?: number } = {},
): Promise<RetrievalServer> {
  const server = createServer((request, response) => {
    void answerRequest(corpus, topk, request)
      .catch((error: Error) => ({ status: 500, body: { detail: error.message } }))
      .then(({ status, body }) => send(response, status, body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/retrieve`,
    close: () => serverClosed(server),
  };
}

async function answerRequest(
  corpus: Corpus,
  topk: number,
  request: IncomingMessage,
): Promise<{ status: number; body: object }> {
  if (request.url !== '/retrieve') return { status: 404, body: { detail: 'POST /retrieve is served here' } };
  if (request.method !== 'POST') return { status: 405, body: { detail: 'expected POST' } };
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MOST_BYTES) return { status: 413, body: { detail: `a body of more than ${MOST_BYTES >> 20} MB` } };
    parts.push(part);
  }
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch (error) {
    return { status: 422, body: { detail: `not JSON: ${errorMessage(error)}` } };
  }
  const query = Query.safeParse(value);
  if (!query.success) return { status: 422, body: { detail: shapeProblem(query.error.issues) } };
  const { queries, topk: asked, return_scores } = query.data;
  const found = queries.map((text) => corpus.search(text, asked ?? topk));
  return {
    status: 200,
    body: { result: return_scores ? found : found.map((hits) => hits.map(({ document }) => document)) },
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const serverClosed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
