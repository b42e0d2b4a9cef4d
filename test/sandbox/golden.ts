// The recorded exchanges of the real server (fixtures/sandboxfusion): how one is sent, and how an answer is made comparable.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';

const FILE = new URL('../../fixtures/sandboxfusion/recorded.jsonl', import.meta.url);

export interface Recorded {
  http_status: number;
  content_type: string | null;
  allow: string | null;
  location: string | null;
  json: unknown;
  text: string | null;
}

export interface Exchange {
  name: string;
  note: string;
  request: { method: string; path: string; json?: unknown; raw?: string | null; headers?: Record<string, string> };
  response: Recorded;
}

export const goldenExchanges = (): Exchange[] =>
  readFileSync(FILE, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Exchange);

/** Puts long strings back in. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== 'object' || value === null) return value;
  if ('__repeat__' in value) {
    const { __repeat__: text, times } = value as unknown as { __repeat__: string; times: number };
    return text.repeat(times);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expand(member)]));
}

/**
 * The request with more time: a program that has to say something before its time is up needs longer on a busy machine than a server
 * alone, and one that was not stopped needs no limit at all.
 */
function unhurried({ request: { path }, response }: Exchange, asked: unknown): unknown {
  if (path !== '/run_code' || response.http_status !== 200 || typeof asked !== 'object' || asked === null) return asked;
  const limits = JSON.stringify(response.json).includes('TimeLimit') ? {} : { compile_timeout: 200, run_timeout: 200 };
  const { run_timeout: seconds } = asked as { run_timeout?: unknown };
  const { files = {}, run_result } = response.json as { files?: object; run_result?: { stdout?: string } | null };
  // These sleep for 9 seconds and more behind what they show.
  const times = Object.keys(files).length > 0 || run_result?.stdout ? 8 : 3;
  // That `true` is one second is a rule of the protocol, with a test of its own.
  const limit = seconds === true ? 1 : seconds;
  const ours = typeof limit === 'number' && limit > 0 ? { run_timeout: limit * times } : {};
  return { ...limits, ...asked, ...ours };
}

/** By node:http, which sends no header that was not asked for. */
export function send(base: string, exchange: Exchange): Promise<Recorded> {
  const { request: asked } = exchange;
  const body = asked.json === undefined ? asked.raw : JSON.stringify(unhurried(exchange, expand(asked.json)));
  const headers = asked.headers ?? { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(asked.path, base), { method: asked.method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const type = response.headers['content-type'] ?? null;
        const isJson = type === 'application/json' && text !== '';
        resolve({
          http_status: response.statusCode ?? 0,
          content_type: type,
          allow: response.headers.allow ?? null,
          location: response.headers.location ?? null,
          json: isJson ? JSON.parse(text) : null,
          text: isJson ? null : text,
        });
      });
    });
    sent.on('error', reject);
    sent.end(body ?? undefined);
  });
}

/** Ignored in the comparison of answers: times, random names, versions of tools. */
function plainText(text: string): string {
  const signed = text
    .replace(/\/tmp\/tmp[a-z0-9_]{8}/g, '<TMP>')
    .replace(/<TMP>\/tmp[a-z0-9_]{8}/g, '<TMP>/<CODE>')
    .replace(/\btmp[a-z0-9_]{8}(?=\.py\b)/g, '<CODE>')
    .replace(/due to (?:1 )?previous error/g, 'due to previous error')
    .replace(/errors\.pydantic\.dev\/[\d.]+\//, 'errors.pydantic.dev/0/')
    .replace(/in [\d.]+s\b/g, 'in 0s')
    .replace(/^ {4}at .*\(node:.*\n/gm, '')
    .replace(/^ {4}at node:.*\n/gm, '')
    .replace(/Node\.js v[\d.]+/g, 'Node.js v0')
    .replace(/^platform linux -- Python .*$/m, 'platform linux')
    .replace(/^(?:plugins|asyncio): .*\n/gm, '')
    .replace(/\/usr\/lib\/gcc\/x86_64-linux-gnu\/\d+\//g, '/usr/lib/gcc/0/');
  return signed;
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** The recording's form of an answer: long strings by their hash, times and names by their signs. */
export function comparable(value: unknown, key = ''): unknown {
  if (key === 'execution_time' && (typeof value === 'number' || value === '<SECONDS>')) return '<SECONDS>';
  if (key === 'traceback' && Array.isArray(value)) return '<TRACEBACK>';
  if (typeof value === 'string') {
    const text = plainText(value);
    return text.length > 4000 ? { length: text.length, sha256: sha(text) } : text;
  }
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value !== 'object' || value === null) return value;
  if ('__long__' in value) {
    const { len, sha256 } = value as unknown as { len: number; sha256: string };
    return { length: len, sha256 };
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, comparable(member, name)]));
}
