import { type Dirent, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** Objects of one page of a list; S3 has 1000. */
const PAGE = 3;

export interface BucketServer {
  url: string;
  /** Method and path of each request, with its range. */
  readonly asked: string[];
  close(): void;
}

/** What S3 answers about the objects of a bucket, which are the files of a folder; without a signature it refuses. */
export async function bucketServer(folder: string): Promise<BucketServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://bucket');
    const key = decodeURIComponent(pathname).split('/').slice(2).join('/');
    asked.push(`${request.method} ${key === '' ? 'list' : key} ${request.headers.range ?? ''}`.trim());
    if (!/^AWS4-HMAC-SHA256 Credential=/.test(request.headers.authorization ?? ''))
      refuse(request, response, 403, 'AccessDenied');
    else if (key === '') list(folder, searchParams, response);
    else give(join(folder, key), request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, close: () => server.close() };
}

function refuse({ method }: IncomingMessage, response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(method === 'HEAD' ? undefined : `<Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function list(folder: string, asked: URLSearchParams, response: ServerResponse): void {
  const prefix = asked.get('prefix') ?? '';
  const behind = asked.get('continuation-token') ?? asked.get('marker') ?? '';
  const left = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry: Dirent) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((key) => key.startsWith(prefix) && key > behind)
    .sort();
  const page = left.slice(0, PAGE);
  const next = left.length > PAGE ? page.at(-1) : undefined;
  const told =
    next === undefined ? '' : `<NextMarker>${next}</NextMarker><NextContinuationToken>${next}</NextContinuationToken>`;
  const objects = page.map((key) => {
    const { size, mtime } = statSync(join(folder, key));
    return `<Contents><Key>${key}</Key><LastModified>${mtime.toISOString()}</LastModified><ETag>"x"</ETag><Size>${size}</Size></Contents>`;
  });
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.end(
    `<ListBucketResult><Prefix>${prefix}</Prefix><IsTruncated>${next !== undefined}</IsTruncated>${told}${objects.join('')}</ListBucketResult>`,
  );
}

function give(path: string, request: IncomingMessage, response: ServerResponse): void {
  const found = existsSync(path) ? statSync(path) : null;
  if (found?.isFile() !== true) {
    refuse(request, response, 404, 'NoSuchKey');
    return;
  }
  const bytes = readFileSync(path);
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
  const from = Number(first ?? 0);
  const part = bytes.subarray(from, last === undefined || last === '' ? undefined : Number(last) + 1);
  response.writeHead(first === undefined ? 200 : 206, {
    'content-length': part.length,
    'last-modified': found.mtime.toUTCString(),
    etag: '"x"',
    ...(first === undefined ? {} : { 'content-range': `bytes ${from}-${from + part.length - 1}/${bytes.length}` }),
  });
  response.end(request.method === 'HEAD' ? undefined : part);
}
