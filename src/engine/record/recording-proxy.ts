import { createHash, timingSafeEqual } from 'node:crypto';
import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { BombGuard } from '../../core/dump/containers/limits.ts';
import { unzstdBytes } from '../../core/dump/containers/zstd.ts';
import { type Guard, refusalOf } from '../../core/http/guard.ts';
import { parseJson } from '../../core/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../core/json/value.ts';
import { errorMessage } from '../../core/text/thrown.ts';
import { ServerEvents } from '../model/sse.ts';
import { anthropicProtocol } from './anthropic-protocol.ts';
import { chatProtocol } from './chat-protocol.ts';
import type { AgentRequest, ModelProtocol, ModelReply } from './protocol.ts';
import type { RecordedReply } from './recorded-replies.ts';
import { replyBytes } from './reply-bytes.ts';
import { responsesProtocol } from './responses-protocol.ts';
import type { RequestUnderWay, RolloutRecorder } from './rollout-recorder.ts';

const PROTOCOLS: readonly ModelProtocol[] = [chatProtocol, responsesProtocol, anthropicProtocol];
/** Names a rollout in a header, as an alternative to the path /rollout/NAME/…. */
const NAME_HEADER = 'x-rollout-id';
/** Headers that belong to one connection (RFC 9110, 7.6.1). */
const HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  NAME_HEADER,
]);
/** A larger request is forwarded without being recorded. */
const MOST_BODY = 256 << 20;
const LIMIT = { maxOutputLength: MOST_BODY };

/** An answer that does not come from the model server: a recorded reply, or a refusal in words. */
type OwnAnswer = { reply: RecordedReply } | { refusal: string; isKept: boolean };

export interface ProxyOptions {
  /** The model server: with or without its /v1; null: none, and only `answerOf` answers. */
  modelUrl: string | null;
  /** Answers a request from a record instead of the model server; null passes it on. */
  answerOf?: (request: AgentRequest) => OwnAnswer | null;
  recorder: RolloutRecorder;
  /** Accepted Host names, besides loopback. */
  allowHosts: Guard['allowHosts'];
  /** The first part of every path, /t/TOKEN, if the server listens beyond loopback; null: none. A model's key keeps its header. */
  token: string | null;
  /** Ask the server for token ids and log probabilities. */
  wantsTokens: boolean;
  onProblem: (problem: string) => void;
}

/** Forwards every request to a model server and records the traffic. The client gets exactly the bytes that the server sent. */
export class RecordingProxy {
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #base: URL | null;
  /** Finished answers not yet written. */
  readonly #recording = new Set<Promise<void>>();

  constructor(options: ProxyOptions) {
    this.#options = options;
    const { modelUrl } = options;
    this.#base = modelUrl === null ? null : new URL(modelUrl.replace(/\/+$/, '').replace(/\/v1$/, ''));
    this.#server = createServer({ requestTimeout: 0 }, (request, response) => {
      void this.#serve(request, response).catch((error: Error) => {
        options.onProblem(error.message);
        if (!response.headersSent) response.writeHead(502, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: { message: `rollout-viewer record: ${error.message}` } }));
      });
    });
  }

  /** @returns the address without a path */
  async listen(host: string, port: number): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    const address = this.#server.address();
    const bound = typeof address === 'object' && address !== null ? address.port : port;
    return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  }

  async close(): Promise<void> {
    await Promise.all(this.#recording);
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { token, allowHosts } = this.#options;
    const refusal = refusalOf({ ...request.headers, authorization: undefined }, { token: null, allowHosts });
    const prefix = token === null ? '' : `/t/${token}`;
    const url = request.url ?? '/';
    if (refusal !== null || !isPrefix(prefix, url)) {
      response.writeHead(refusal?.status ?? 401, { 'content-type': 'application/json' });
      const detail = refusal?.detail ?? 'the address lacks the token of this recorder';
      response.end(JSON.stringify({ error: { message: detail } }));
      return;
    }
    const { name, path } = addressed(url.slice(prefix.length));
    const rollout = name ?? headerText(request.headers[NAME_HEADER]);
    const body = await requestBody(request);
    if (rollout !== null && path === '/reward' && request.method === 'POST') {
      this.#reward(rollout, body, response);
      return;
    }
    const asked = request.method === 'POST' ? await this.#asked(request, path, body) : null;
    const sent =
      asked !== null && this.#options.wantsTokens
        ? Buffer.from(JSON.stringify(asked.protocol.withTokens(asked.json)))
        : body;
    if (sent !== body) delete request.headers['content-encoding'];
    const own = asked === null ? null : (this.#options.answerOf?.(asked.request) ?? null);
    if (own !== null && asked !== null && 'refusal' in own) {
      answerJson(response, 409, { error: { message: own.refusal, type: 'invalid_request_error' } });
      const refused = { status: 409, reply: null, problem: own.refusal, firstByte: null, seconds: 0 };
      if (own.isKept) this.#options.recorder.end(await this.#begin(asked, rollout), refused);
    } else if (own !== null && asked !== null && 'reply' in own)
      this.#answer(response, asked, own.reply, await this.#begin(asked, rollout));
    else if (this.#base === null) answerAlone(request, path, response);
    else await this.#pass(request, response, this.#base, path, sent, asked, rollout);
  }

  /** The part of a request that the recorder reads. One that it cannot read is passed on all the same, and that is said. */
  async #asked({ headers }: IncomingMessage, path: string, body: Buffer): Promise<ProxyRequest | null> {
    const protocol = protocolOf(path);
    if (protocol === undefined) return null;
    const unread = (reason: string): null => {
      this.#options.onProblem(`a request to ${protocol.path} was passed on and is not recorded: ${reason}`);
      return null;
    };
    if (body.length > MOST_BODY) return unread(`it has ${Math.round(body.length / 1e6)} MB`);
    try {
      const json = requestObject(await unpacked(body, headerText(headers['content-encoding'])));
      const request = json === null ? null : protocol.request(json);
      return json === null || request === null
        ? unread('its body does not follow the protocol')
        : { protocol, json, request };
    } catch (error) {
      return unread(`its body cannot be read: ${errorMessage(error)}`);
    }
  }

  /**
   * The request is on its way already: recording costs the agent no time. An agent may send it on the last byte of an answer, and that answer
   * is recorded first.
   */
  async #begin({ protocol, request }: ProxyRequest, rollout: string | null): Promise<RequestUnderWay> {
    await new Promise(setImmediate);
    await Promise.all(this.#recording);
    return this.#options.recorder.begin(protocol, request, rollout);
  }

  /** Gives a recorded reply, and records it again. */
  #answer(
    response: ServerResponse,
    { protocol, request }: ProxyRequest,
    recorded: RecordedReply,
    underWay: RequestUnderWay,
  ): void {
    const started = performance.now();
    const { type, body } = replyBytes(protocol.name, recorded, request.model ?? 'recorded', request.isStreamed);
    response.writeHead(200, { 'content-type': type, 'content-length': String(body.length) });
    response.end(body);
    const reply = replyIn(protocol, body, true, type);
    const seconds = (performance.now() - started) / 1000;
    this.#options.recorder.end(underWay, { status: 200, reply, problem: null, firstByte: null, seconds });
  }

  #reward(name: string, body: Buffer, response: ServerResponse): void {
    const value = requestObject(body);
    const isKnown = value !== null && this.#options.recorder.reward(name, value);
    response.writeHead(isKnown ? 200 : value === null ? 400 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        isKnown
          ? { ok: true }
          : { error: { message: value === null ? 'the body is not a JSON object' : `no rollout ${name}` } },
      ),
    );
  }

  /** Forwards a request; resolves when the answer is over, for client and record. */
  #pass(
    request: IncomingMessage,
    response: ServerResponse,
    base: URL,
    path: string,
    body: Buffer,
    asked: ProxyRequest | null,
    rollout: string | null,
  ): Promise<void> {
    const started = performance.now();
    const target = new URL(`${base.pathname === '/' ? '' : base.pathname}${path}`, base);
    const headers = Object.fromEntries(Object.entries(request.headers).filter(([key]) => !HOP.has(key)));
    headers.host = target.host;
    headers['content-length'] = String(body.length);
    return new Promise((resolve) => {
      const seen = { chunks: [] as Buffer[], firstByte: null as number | null };
      let begun: Promise<RequestUnderWay> | null = null;
      const finish = (
        status: number,
        answer: IncomingMessage | null,
        isWhole: boolean,
        problem: string | null,
      ): void => {
        if (begun === null || asked === null) {
          resolve();
          return;
        }
        const seconds = (performance.now() - started) / 1000;
        const recording = begun.then((underWay) =>
          this.#record(asked.protocol, underWay, { status, answer, isWhole, problem, seen, seconds }),
        );
        this.#recording.add(recording);
        void recording.finally(() => {
          this.#recording.delete(recording);
          resolve();
        });
      };
      const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
      const out: ClientRequest = send(target, { method: request.method, headers }, (answer) => {
        const status = answer.statusCode ?? 502;
        response.writeHead(status, answer.statusMessage, answerHeaders(answer));
        response.flushHeaders();
        answer.on('data', (chunk: Buffer) => {
          seen.firstByte ??= (performance.now() - started) / 1000;
          if (asked !== null) seen.chunks.push(chunk);
          if (!response.write(chunk)) {
            answer.pause();
            response.once('drain', () => answer.resume());
          }
        });
        answer.on('end', () => {
          finish(status, answer, true, null);
          response.end();
        });
        answer.on('error', (error) => {
          response.destroy();
          finish(status, answer, false, `the model server broke off: ${error.message}`);
        });
        response.on('close', () => {
          if (answer.complete || answer.destroyed) return;
          answer.removeAllListeners('error').on('error', () => {});
          out.destroy();
          finish(status, answer, false, 'the client left before the answer was whole');
        });
      });
      response.on('close', () => out.destroy());
      out.on('error', (error: NodeJS.ErrnoException) => {
        if (response.headersSent || response.destroyed) {
          if (!response.headersSent) finish(0, null, false, 'the client left before an answer came');
          return;
        }
        response.writeHead(502, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            error: {
              message: `rollout-viewer record: ${target.origin} does not answer: ${error.code ?? error.message}`,
            },
          }),
        );
        finish(0, null, false, `the model server does not answer: ${error.code ?? error.message}`);
      });
      out.end(body);
      if (asked !== null) begun = this.#begin(asked, rollout);
    });
  }

  async #record(
    protocol: ModelProtocol,
    underWay: RequestUnderWay,
    {
      status,
      answer,
      isWhole,
      problem,
      seen,
      seconds,
    }: {
      status: number;
      answer: IncomingMessage | null;
      isWhole: boolean;
      problem: string | null;
      seen: { chunks: Buffer[]; firstByte: number | null };
      seconds: number;
    },
  ): Promise<void> {
    let reply: ModelReply | null = null;
    let trouble = problem;
    try {
      const bytes = await unpacked(Buffer.concat(seen.chunks), headerText(answer?.headers['content-encoding']));
      reply = replyIn(protocol, bytes, isWhole, headerText(answer?.headers['content-type']) ?? '');
      if (reply === null && status < 400 && trouble === null) trouble = 'the answer does not follow its protocol';
      if (status >= 400) trouble ??= bytes.toString('utf8').slice(0, 2000);
    } catch (error) {
      trouble ??= `the answer cannot be read: ${errorMessage(error)}`;
    }
    this.#options.recorder.end(underWay, { status, reply, problem: trouble, firstByte: seen.firstByte, seconds });
  }
}

const answerJson = (response: ServerResponse, status: number, value: JsonObject): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

/** Without a model server: agents ask which models there are before they begin. */
function answerAlone({ method }: IncomingMessage, path: string, response: ServerResponse): void {
  const isList = method === 'GET' && /\/models\/?(?:\?|$)/.test(path);
  if (isList)
    answerJson(response, 200, {
      object: 'list',
      data: [{ id: 'recorded', object: 'model', created: 0, owned_by: 'record' }],
    });
  else
    answerJson(response, 404, {
      error: { message: `rollout-viewer: no model server, and nothing is recorded for ${path}` },
    });
}

/** Compares hashes, so the timing reveals nothing about a token. */
const isPrefix = (prefix: string, url: string): boolean =>
  timingSafeEqual(digest(prefix), digest(url.slice(0, prefix.length)));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** `/rollout/NAME/v1/…` names a rollout in its path. */
function addressed(url: string): { name: string | null; path: string } {
  const [, name, rest] = /^\/rollout\/([^/?]+)(\/.*)$/s.exec(url) ?? [];
  if (name === undefined || rest === undefined) return { name: null, path: url };
  try {
    return { name: decodeURIComponent(name), path: rest };
  } catch {
    return { name, path: rest };
  }
}

const headerText = (value: string | string[] | undefined): string | null =>
  (Array.isArray(value) ? value[0] : value)?.trim() || null;

const answerHeaders = (answer: IncomingMessage): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(answer.headers).flatMap(([key, value]) =>
      value === undefined || HOP.has(key) ? [] : [[key, value]],
    ),
  );

async function requestBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function requestObject(body: Buffer): JsonObject | null {
  try {
    const value = parseJson(body.toString('utf8'));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A request of a known protocol. */
interface ProxyRequest {
  protocol: ModelProtocol;
  json: JsonObject;
  request: AgentRequest;
}

function protocolOf(path: string): ModelProtocol | undefined {
  const plain = path.replace(/\?.*$/s, '');
  return PROTOCOLS.find((one) => plain.endsWith(one.path));
}

function replyIn(protocol: ModelProtocol, bytes: Buffer, isWhole: boolean, type: string): ModelReply | null {
  if (!type.includes('text/event-stream')) {
    const json = requestObject(bytes);
    const reply = json === null ? null : protocol.reply(json);
    // The client may have got an error in place of a reply that is whole.
    return reply === null || isWhole ? reply : { ...reply, isCut: true };
  }
  const reader = new ServerEvents();
  const events = [...reader.push(bytes), ...(isWhole ? reader.end() : [])];
  const objects = events.flatMap((event) => [requestObject(Buffer.from(event))].filter((one) => one !== null));
  return protocol.streamed(objects, isWhole);
}

/** The bytes before they were packed. */
async function unpacked(bytes: Buffer, encoding: string | null): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gunzip)(bytes, LIMIT);
  if (encoding === 'br') return promisify(brotliDecompress)(bytes, LIMIT);
  if (encoding === 'deflate') return promisify(inflate)(bytes, LIMIT);
  if (encoding === 'zstd') return Buffer.from(await unzstdBytes(bytes, new BombGuard(bytes.length)));
  if (encoding !== null && encoding !== 'identity') throw new Error(`it is packed as ${encoding}`);
  return bytes;
}
