import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as rest } from 'node:timers/promises';

export interface ServedObject {
  size: number;
  etag: string;
  modified: Date;
  bytes(from: number, to: number): Buffer;
}

/** The failure of one request. */
export type Fault =
  | { kind: 'refuse'; status: number; code: string }
  /** The connection ends after so many bytes of the body. */
  | { kind: 'cut'; after: number }
  /** The answer promises and sends fewer bytes than were asked for. */
  | { kind: 'short'; bytes: number }
  /** If-Match is not looked at, and the answer is what is there now. */
  | { kind: 'forgetful' }
  /** Something on the way answers in place of the store. */
  | { kind: 'page'; text: string }
  | { kind: 'elsewhere'; region: string };

export interface Asked {
  kind: 'list' | 'get';
  key: string;
  range: string;
  region: string;
}

export interface ServerOptions {
  /** Before each answer. */
  delayMs?: number;
  /** Objects of one page of a list; S3 has 1000. */
  page?: number;
  secret?: string;
  /** The server's clock, less this machine's. */
  aheadMs?: number;
  /** Requests without keys are answered. */
  isOpen?: boolean;
}

export const KEY_ID = 'AKIDEXAMPLE';
export const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const MOST_SKEW_MS = 15 * 60_000;

export function objectOf(content: string | Buffer, modified = new Date(1_700_000_000_000)): ServedObject {
  const bytes = Buffer.from(content);
  const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
  return { size: bytes.length, etag, modified, bytes: (from, to) => bytes.subarray(from, to) };
}

/** A bucket as S3 serves it: signatures are checked, lists come in pages, objects by ranges and only if they are those of the ETag. */
export class ObjectServer {
  readonly objects = new Map<string, ServedObject>();
  readonly asked: Asked[] = [];
  bytesSent = 0;
  /** Decides what goes wrong. */
  fault: (asked: Asked) => Fault | null = () => null;
  readonly options: ServerOptions;
  readonly #server: Server;
  #sorted: string[] | null = null;

  private constructor(options: ServerOptions) {
    this.options = options;
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(options: ServerOptions = {}): Promise<ObjectServer> {
    const one = new ObjectServer(options);
    await new Promise<void>((resolve) => one.#server.listen(0, '127.0.0.1', resolve));
    return one;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The environment of a program that has the keys. */
  get env(): Record<string, string> {
    return { ...NO_OTHER_KEYS, AWS_ENDPOINT_URL: this.url, AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET };
  }

  put(key: string, object: ServedObject): void {
    if (!this.objects.has(key)) this.#sorted = null;
    this.objects.set(key, object);
  }

  remove(key: string): void {
    this.#sorted = null;
    this.objects.delete(key);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const [, , ...parts] = pathname.split('/').map(decodeURIComponent);
    const key = parts.join('/');
    const region = /Credential=[^/]*\/\d+\/([^/]*)/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const asked: Asked = { kind: key === '' ? 'list' : 'get', key, range: request.headers.range ?? '', region };
    this.asked.push(asked);
    await rest(this.options.delayMs ?? 0);
    response.setHeader('date', new Date(Date.now() + (this.options.aheadMs ?? 0)).toUTCString());
    const problem = this.#signatureProblem(request);
    if (problem !== null) return refuse(response, 403, problem);
    const fault = this.fault(asked);
    if (fault?.kind === 'refuse') return refuse(response, fault.status, fault.code);
    if (fault?.kind === 'page') {
      response.writeHead(200, { 'content-type': 'text/html' }).end(fault.text);
      return;
    }
    if (fault?.kind === 'elsewhere' && region !== fault.region) {
      response.setHeader('x-amz-bucket-region', fault.region);
      return refuse(response, 301, 'PermanentRedirect');
    }
    if (key === '') this.#list(searchParams, response, fault);
    else this.#give(key, request, response, fault);
  }

  #list(query: URLSearchParams, response: ServerResponse, fault: Fault | null): void {
    this.#sorted ??= [...this.objects.keys()].sort();
    const prefix = query.get('prefix') ?? '';
    const token = query.get('continuation-token');
    const from = token === null ? 0 : Number(Buffer.from(token, 'base64').toString());
    const page: string[] = [];
    let at = from;
    for (; at < this.#sorted.length && page.length < (this.options.page ?? 1000); at++)
      if (this.#sorted[at]!.startsWith(prefix)) page.push(this.#sorted[at]!);
    const isCut = this.#sorted.slice(at).some((key) => key.startsWith(prefix));
    const next = isCut
      ? `<NextContinuationToken>${Buffer.from(String(at)).toString('base64')}</NextContinuationToken>`
      : '';
    const objects = page.map((key) => {
      const { size, etag, modified } = this.objects.get(key)!;
      return `<Contents><Key>${encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${size}</Size><Generation>${generationOf(etag)}</Generation></Contents>`;
    });
    const text = `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${isCut}</IsTruncated>${next}${objects.join('')}</ListBucketResult>`;
    response.writeHead(200, { 'content-type': 'application/xml', 'content-length': Buffer.byteLength(text) });
    this.#send(response, Buffer.from(text), fault);
  }

  #give(key: string, { headers }: IncomingMessage, response: ServerResponse, fault: Fault | null): void {
    const object = this.objects.get(key);
    if (object === undefined) {
      refuse(response, 404, 'NoSuchKey');
      return;
    }
    const match = headers['if-match'] ?? object.etag;
    const generation = headers['x-goog-if-generation-match'] ?? generationOf(object.etag);
    if (fault?.kind !== 'forgetful' && (match !== object.etag || generation !== generationOf(object.etag))) {
      refuse(response, 412, 'PreconditionFailed');
      return;
    }
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
    const from = Number(first ?? 0);
    if (from >= object.size && first !== undefined) {
      refuse(response, 416, 'InvalidRange');
      return;
    }
    let to = last === undefined || last === '' ? object.size : Math.min(object.size, Number(last) + 1);
    if (fault?.kind === 'short') to = Math.min(to, from + fault.bytes);
    response.writeHead(first === undefined ? 200 : 206, {
      'content-length': to - from,
      etag: object.etag,
      'x-goog-generation': generationOf(object.etag),
      ...(first === undefined ? {} : { 'content-range': `bytes ${from}-${to - 1}/${object.size}` }),
    });
    this.#send(response, object.bytes(from, to), fault);
  }

  #send(response: ServerResponse, body: Buffer, fault: Fault | null): void {
    const sent = fault?.kind === 'cut' ? body.subarray(0, fault.after) : body;
    this.bytesSent += sent.length;
    if (fault?.kind === 'cut') response.write(sent, () => response.destroy());
    else response.end(sent);
  }

  /** The code of a refusal; null if the request is signed as AWS documents it (Signature Version 4). */
  #signatureProblem({ method = '', url = '', headers }: IncomingMessage): string | null {
    const { isOpen, aheadMs = 0, secret = SECRET } = this.options;
    const [, id, day, region, names = '', signature = ''] =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/.exec(
        headers.authorization ?? '',
      ) ?? [];
    if (id === undefined || day === undefined || region === undefined) return isOpen ? null : 'AccessDenied';
    if (id !== KEY_ID) return 'InvalidAccessKeyId';
    const time = String(headers['x-amz-date'] ?? '');
    const [, y, m, d, h, min, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time) ?? [];
    const asked = Date.parse(`${y}-${m}-${d}T${h}:${min}:${s}Z`);
    if (!(Math.abs(Date.now() + aheadMs - asked) <= MOST_SKEW_MS)) return 'RequestTimeTooSkewed';
    const signed = names.split(';');
    if (!time.startsWith(day) || !['host', 'x-amz-date', 'x-amz-content-sha256'].every((one) => signed.includes(one)))
      return 'AccessDenied';
    const [path = '', query = ''] = url.split('?');
    const canonical = [
      method,
      path.split('/').map(decodeURIComponent).map(encoded).join('/'),
      query
        .split('&')
        .filter((part) => part !== '')
        .map((part) => part.split('=').map((one) => encoded(decodeURIComponent(one))))
        .map(([name = '', value = '']) => `${name}=${value}`)
        .sort()
        .join('&'),
      ...signed.map((name) => `${name}:${String(headers[name] ?? '').trim()}`),
      '',
      names,
      String(headers['x-amz-content-sha256']),
    ].join('\n');
    const scope = `${day}/${region}/s3/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
    const hmac = (key: string | Buffer, what: string) => createHmac('sha256', key).update(what).digest();
    const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day));
    return timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch';
  }
}

/** Nothing of this machine's own keys, and no question to the network that it is on. */
const NO_OTHER_KEYS = {
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/nonexistent',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
  AWS_REGION: 'eu-central-1',
};

export const generationOf = (etag: string): string => String(Number.parseInt(etag.slice(1, 13), 16));

/** Every character but those that RFC 3986 leaves alone. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}
