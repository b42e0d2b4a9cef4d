// Requests byte by byte, as no honest client sends them: none of them runs a program, and the server answers on.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxServer, startSandbox } from '../../src/sandbox/server/index.ts';
import { lack } from './backends.ts';

const PROGRAM = JSON.stringify({ code: 'print(6 * 7)', language: 'python' });
const RAN = '"stdout":"42\\n"';
const CHUNKS = `${PROGRAM.length.toString(16)}\r\n${PROGRAM}\r\n0\r\n\r\n`;
const JSON_TYPE = 'content-type: application/json';
const LENGTH = `content-length: ${PROGRAM.length}`;

/** Head lines after the first, and a body; `HOST` is replaced by the server's address. */
type Raw = [first: string, lines: string[], body: string, status: number];
const POST = 'POST /run_code HTTP/1.1';
const REFUSED: Record<string, Raw> = {
  'a body in chunks that also has a length': [
    POST,
    ['host: HOST', JSON_TYPE, 'transfer-encoding: chunked', LENGTH],
    CHUNKS,
    400,
  ],
  'chunks in an encoding that nobody knows': [
    POST,
    ['host: HOST', JSON_TYPE, 'transfer-encoding: xchunked'],
    CHUNKS,
    400,
  ],
  'two encodings': [
    POST,
    ['host: HOST', JSON_TYPE, 'transfer-encoding: chunked', 'transfer-encoding: identity'],
    CHUNKS,
    400,
  ],
  'a name with a space before its colon': [
    POST,
    ['host: HOST', JSON_TYPE, 'transfer-encoding : chunked', LENGTH],
    PROGRAM,
    400,
  ],
  'two lengths': [POST, ['host: HOST', JSON_TYPE, LENGTH, 'content-length: 3'], PROGRAM, 400],
  'a length with a sign': [POST, ['host: HOST', JSON_TYPE, `content-length: +${PROGRAM.length}`], PROGRAM, 400],
  'a length below zero': [POST, ['host: HOST', JSON_TYPE, 'content-length: -1'], PROGRAM, 400],
  'a chunk without a size': [
    POST,
    ['host: HOST', JSON_TYPE, 'transfer-encoding: chunked'],
    `xyz\r\n${PROGRAM}\r\n0\r\n\r\n`,
    400,
  ],
  'a chunk of more than there is': [
    POST,
    ['host: HOST', JSON_TYPE, 'transfer-encoding: chunked'],
    `${'f'.repeat(17)}\r\n${PROGRAM}`,
    400,
  ],
  'a folded line': [POST, ['host: HOST', 'content-type: text/plain', ' application/json', LENGTH], PROGRAM, 400],
  'two hosts, a good one first': [POST, ['host: HOST', 'host: evil.example', JSON_TYPE, LENGTH], PROGRAM, 400],
  'two hosts, a good one last': [POST, ['host: evil.example', 'host: HOST', JSON_TYPE, LENGTH], PROGRAM, 400],
  'no host': [POST, [JSON_TYPE, LENGTH], PROGRAM, 400],
  'no host in an old version': ['POST /run_code HTTP/1.0', [JSON_TYPE, LENGTH], PROGRAM, 403],
  'a host that another line names': [
    POST,
    ['host: evil.example', 'x-forwarded-host: HOST', JSON_TYPE, LENGTH],
    PROGRAM,
    403,
  ],
  'a good address of a foreign host': [
    'POST http://HOST/run_code HTTP/1.1',
    ['host: evil.example', JSON_TYPE, LENGTH],
    PROGRAM,
    403,
  ],
  'an address of another server': [
    'POST http://evil.example/run_code HTTP/1.1',
    ['host: HOST', JSON_TYPE, LENGTH],
    PROGRAM,
    404,
  ],
  'two origins': [
    POST,
    ['host: HOST', 'origin: http://HOST', 'origin: http://evil.example', JSON_TYPE, LENGTH],
    PROGRAM,
    403,
  ],
  'two types, the plain one first': [POST, ['host: HOST', 'content-type: text/plain', JSON_TYPE, LENGTH], PROGRAM, 422],
  'an expectation': [POST, ['host: HOST', 'expect: 200-ok', JSON_TYPE, LENGTH], PROGRAM, 417],
  'another version of the protocol': ['PRI * HTTP/2.0', [], 'SM\r\n\r\n', 400],
  'a path with a NUL': ['POST /run_code\0 HTTP/1.1', ['host: HOST', JSON_TYPE, LENGTH], PROGRAM, 400],
};

describe('raw HTTP', () => {
  let server: SandboxServer;
  beforeAll(async () => {
    server = await startSandbox({ port: 0, backend: lack.bubblewrap === null ? 'bubblewrap' : 'pyodide' });
  });
  afterAll(() => server.close('now'));

  /** Everything that comes until the server closes the connection. */
  const answered = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const parts: Buffer[] = [];
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(text, 'latin1'));
      socket.on('data', (part: Buffer) => parts.push(part));
      socket.on('error', () => {});
      socket.on('close', () => resolve(Buffer.concat(parts).toString('latin1')));
    });
  const raw = ([first, lines, body]: Raw | [string, string[], string]) =>
    answered(
      [first, ...lines, 'connection: close', '', body].join('\r\n').replaceAll('HOST', new URL(server.url).host),
    );

  test.each(Object.entries(REFUSED))('%s', async (_, request) => {
    const answer = await raw(request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${request[3]} `));
    expect(answer).not.toContain(RAN);
  });

  test('an upgrade is not followed, a tunnel is refused, and an honest request still runs', async () => {
    const upgrade = ['host: HOST', 'connection: upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'];
    expect(await raw(['GET /v1/ping HTTP/1.1', upgrade, ''])).toMatch(/^HTTP\/1\.1 200 .*"pong"/s);
    expect(await raw(['CONNECT 127.0.0.1:22 HTTP/1.1', ['host: HOST'], ''])).toBe('');
    expect(await raw([POST, ['host: HOST', JSON_TYPE, LENGTH], PROGRAM])).toContain(RAN);
  });
});
