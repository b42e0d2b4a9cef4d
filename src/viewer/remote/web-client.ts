import { Agent, type Dispatcher } from 'undici';
import { SourceError } from './machine.ts';
import { guardedLookup, ipOf, isInternal } from './private-address.ts';

/** A server that is silent for this long is considered gone. */
const SILENT_MS = 20_000;
const MOST_REDIRECTS = 5;

export type WebAnswer = Dispatcher.ResponseData;

export interface WebRequest {
  method?: 'GET' | 'PUT' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Redirects are followed, each one checked first; keys are sent to the first server alone. */
  follows?: boolean;
  /** The bytes are kept as they are sent, packed or not. */
  isRaw?: boolean;
}

export interface WebClientOptions {
  silentMs?: number;
  /** Whether an IP address belongs to the user's machine or networks. */
  internal?: (address: string) => boolean;
  /** Authorities that are trusted beside the system's. */
  authorities?: string[];
}

/** Requests to one server that the user named, and to those that it leads to. */
export class WebClient {
  /** The given address is in the user's own networks, so redirects may be too. */
  #isInternal = false;
  readonly #first: Agent;
  readonly #redirected: Agent;
  readonly #silentMs: number;
  readonly #isOfUser: (address: string) => boolean;

  constructor({ silentMs = SILENT_MS, internal = isInternal, authorities }: WebClientOptions = {}) {
    this.#silentMs = silentMs;
    this.#isOfUser = internal;
    const agent = (refuse: (address: string) => Error | null): Agent =>
      new Agent({ connect: { lookup: guardedLookup(refuse), timeout: SILENT_MS, ca: authorities } });
    this.#first = agent((address) => {
      this.#isInternal ||= this.#isOfUser(address);
      return null;
    });
    this.#redirected = agent((address) => this.#refusal(address));
  }

  /** The answer, whatever its status. @throws SourceError without an answer, or if it leads to a place that is not followed */
  async ask(first: URL, request: WebRequest, signal: AbortSignal): Promise<WebAnswer> {
    let url = first;
    let { headers } = request;
    for (let count = 0; ; count++) {
      const ip = ipOf(url);
      const refused = count === 0 || ip === null ? null : this.#refusal(ip);
      if (count === 0 && ip !== null) this.#isInternal ||= this.#isOfUser(ip);
      if (refused !== null) throw refused;
      const dispatcher = count === 0 ? this.#first : this.#redirected;
      const answer = await dispatcher
        .request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method ?? 'GET',
          headers,
          body: request.body ?? null,
          signal,
          headersTimeout: this.#silentMs,
          bodyTimeout: this.#silentMs,
        })
        .catch((error: unknown) => {
          throw this.problemOf(error, signal);
        });
      const encoding = headerOf(answer, 'content-encoding');
      if (request.isRaw !== true && encoding !== undefined && !/^\s*(?:identity)?\s*$/i.test(encoding)) {
        dismiss(answer);
        throw new SourceError(`the answer is compressed (${encoding}), which was not asked for`, false);
      }
      const target = headerOf(answer, 'location');
      const { statusCode: status } = answer;
      if (request.follows !== true || status < 300 || status > 399 || target === undefined) return answer;
      dismiss(answer);
      if (count === MOST_REDIRECTS) throw new SourceError(`more than ${MOST_REDIRECTS} redirects`, false);
      const next = URL.canParse(target, url) ? new URL(target, url) : null;
      if (next === null || !/^https?:$/.test(next.protocol) || (url.protocol === 'https:' && next.protocol === 'http:'))
        throw new SourceError('it leads to an address that is not followed: no https', false);
      next.username = '';
      next.password = '';
      if (next.origin !== url.origin) {
        const { authorization: _, ...others } = headers;
        headers = others;
      }
      url = next;
    }
  }

  /** The bytes of a part of a file. @throws SourceError if the answer holds another part, or ends early */
  async *bytes(answer: WebAnswer, offset: number, end: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    try {
      // A server without range support answers with the whole file.
      let skip = answer.statusCode === 206 ? 0 : offset;
      let left = end - offset;
      let promised = promisedBytes(answer, offset, end);
      for await (const piece of answer.body) {
        const chunk = piece as Buffer;
        promised -= chunk.length;
        if (promised < 0) throw new SourceError('the server sent more bytes than it said', false);
        const from = Math.min(skip, chunk.length);
        skip -= from;
        const own = chunk.subarray(from, from + left);
        left -= own.length;
        if (own.length > 0) yield own;
        if (left <= 0) return;
      }
      if (promised > 0 && Number.isFinite(promised))
        throw new SourceError(`the server sent ${promised} bytes fewer than it said`, true);
    } catch (error) {
      throw this.problemOf(error, signal);
    } finally {
      dismiss(answer);
    }
  }

  close(): void {
    for (const agent of [this.#first, this.#redirected]) void agent.destroy().catch(() => {});
  }

  problemOf(error: unknown, signal: AbortSignal): SourceError {
    if (error instanceof SourceError) return error;
    if (signal.aborted) return new SourceError('ended', true);
    const { code = '', message } = error as NodeJS.ErrnoException;
    const isSilent = /TIMEOUT/.test(code);
    return new SourceError(isSilent ? `no byte came for ${this.#silentMs / 1000} s` : message, true);
  }

  #refusal(address: string): Error | null {
    if (this.#isInternal || !this.#isOfUser(address)) return null;
    return new SourceError(`it leads to ${address}, an address of this machine or its networks; not followed`, false);
  }
}

/** Ends an answer whose body is not wanted. */
export const dismiss = (answer: WebAnswer): void => void answer.body.on('error', () => {}).destroy();

export const headerOf = ({ headers }: WebAnswer, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** The parts of `Content-Range: bytes FIRST-LAST/WHOLE`; null for anything else. */
export function byteRange(answer: WebAnswer): { first: number; last: number; whole: number | null } | null {
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(answer, 'content-range') ?? '') ?? [];
  if (first === undefined || last === undefined) return null;
  return { first: Number(first), last: Number(last), whole: whole === '*' ? null : Number(whole) };
}

/** The bytes announced by the response header. @throws SourceError if it is not the requested part */
function promisedBytes(answer: WebAnswer, offset: number, end: number): number {
  const length = headerOf(answer, 'content-length');
  const promised = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
  if (answer.statusCode !== 206) return promised;
  const range = byteRange(answer);
  const isWithin = range !== null && range.last < (range.whole ?? Number.POSITIVE_INFINITY) && range.last < end;
  if (!isWithin || range.first !== offset || range.last < range.first)
    throw new SourceError('the server sent another part than requested', false);
  const size = range.last - range.first + 1;
  if (Number.isFinite(promised) && promised !== size)
    throw new SourceError(`the server says ${size} bytes and sends ${promised}`, false);
  return size;
}
