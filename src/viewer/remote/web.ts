import { Agent, type Dispatcher } from 'undici';
import type { Address } from './address.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';
import { guardedLookup, ipOf, isInternal } from './private-address.ts';

/** A server that is silent for this long is considered gone. */
const SILENT_MS = 20_000;
const MOST_REDIRECTS = 5;

type WebAnswer = Dispatcher.ResponseData;

/** The parts of `Content-Range: bytes FIRST-LAST/WHOLE`; null for anything else. */
function byteRange(answer: WebAnswer): { first: number; last: number; whole: number | null } | null {
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(answer, 'content-range') ?? '') ?? [];
  if (first === undefined || last === undefined) return null;
  return { first: Number(first), last: Number(last), whole: whole === '*' ? null : Number(whole) };
}

const headerOf = ({ headers }: WebAnswer, name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

/** One file behind a URL, by range requests: only appended bytes are requested. */
export class WebSource implements Machine {
  readonly name: string;
  readonly #origin: string;
  /** The given address is in the user's own networks, so redirects may be too. */
  #isInternal = false;
  readonly #first = this.#agent((address) => {
    this.#isInternal ||= this.#isOfUser(address);
    return null;
  });
  readonly #redirected = this.#agent((address) => this.#refusal(address));
  readonly #silentMs: number;
  readonly #isOfUser: (address: string) => boolean;

  /** @param internal whether an IP address belongs to the user's machine or networks */
  constructor(
    { name }: Pick<Extract<Address, { kind: 'https' }>, 'name'>,
    { silentMs = SILENT_MS, internal = isInternal } = {},
  ) {
    this.name = name;
    this.#origin = name;
    this.#silentMs = silentMs;
    this.#isOfUser = internal;
  }

  #agent(refuse: (address: string) => Error | null): Agent {
    return new Agent({ connect: { lookup: guardedLookup(refuse), timeout: SILENT_MS } });
  }

  #refusal(address: string): Error | null {
    if (this.#isInternal || !this.#isOfUser(address)) return null;
    return new SourceError(`it leads to ${address}, an address of this machine or its networks; not followed`, false);
  }

  async list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }> {
    const answer = await this.#asked(path, { range: 'bytes=0-0' }, signal);
    answer.body.on('error', () => {}).destroy();
    // An empty file has no first byte.
    const [, empty] = /^bytes \*\/(\d+)$/.exec(headerOf(answer, 'content-range') ?? '') ?? [];
    const length = headerOf(answer, 'content-length');
    const size =
      answer.statusCode === 416
        ? Number(empty ?? 0)
        : answer.statusCode === 206
          ? (byteRange(answer)?.whole ?? null)
          : length === undefined
            ? null
            : Number(length);
    if (size === null || !Number.isSafeInteger(size) || size < 0)
      throw new SourceError('the server gives no length and accepts no range requests', false);
    const modified = Math.max(0, Math.floor(Date.parse(headerOf(answer, 'last-modified') ?? '') / 1000) || 0);
    return { root: path, files: [{ path, size, modified, inode: '' }] };
  }

  async *read(path: string, offset: number, end: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const answer = await this.#asked(path, { range: `bytes=${offset}-${Number.isFinite(end) ? end - 1 : ''}` }, signal);
    try {
      if (answer.statusCode === 416) return;
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
      throw this.#told(error, signal);
    } finally {
      answer.body.on('error', () => {}).destroy();
    }
  }

  close(): void {
    for (const agent of [this.#first, this.#redirected]) void agent.destroy().catch(() => {});
  }

  /** Follows redirects itself, checking each one first. */
  async #asked(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<WebAnswer> {
    let url = new URL(this.#origin + path);
    for (let count = 0; ; count++) {
      const ip = ipOf(url);
      const refused = count === 0 || ip === null ? null : this.#refusal(ip);
      if (count === 0 && ip !== null) this.#isInternal ||= this.#isOfUser(ip);
      if (refused !== null) throw refused;
      const dispatcher = count === 0 ? this.#first : this.#redirected;
      const limits = { headersTimeout: this.#silentMs, bodyTimeout: this.#silentMs };
      const asked = {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers,
        signal,
      } as const;
      const answer = await dispatcher.request({ ...asked, ...limits }).catch((error: unknown) => {
        throw this.#told(error, signal);
      });
      const { statusCode: status } = answer;
      const encoding = headerOf(answer, 'content-encoding');
      if (encoding !== undefined && !/^\s*(?:identity)?\s*$/i.test(encoding)) {
        answer.body.on('error', () => {}).destroy();
        throw new SourceError(`the answer is compressed (${encoding}), which was not asked for`, false);
      }
      if ((status >= 200 && status <= 299) || status === 416) return answer;
      answer.body.on('error', () => {}).destroy();
      const target = headerOf(answer, 'location');
      if (status < 300 || status > 399 || target === undefined)
        throw new SourceError(`the server answered ${status}`, status >= 500);
      if (count === MOST_REDIRECTS) throw new SourceError(`more than ${MOST_REDIRECTS} redirects`, false);
      const next = URL.canParse(target, url) ? new URL(target, url) : null;
      if (next === null || !/^https?:$/.test(next.protocol) || (url.protocol === 'https:' && next.protocol === 'http:'))
        throw new SourceError('it leads to an address that is not followed: no https', false);
      next.username = '';
      next.password = '';
      url = next;
    }
  }

  #told(error: unknown, signal: AbortSignal): SourceError {
    if (error instanceof SourceError) return error;
    if (signal.aborted) return new SourceError('ended', true);
    const { code = '', message } = error as NodeJS.ErrnoException;
    const isSilent = /TIMEOUT/.test(code);
    return new SourceError(isSilent ? `no byte came for ${this.#silentMs / 1000} s` : message, true);
  }
}

/** The bytes announced by the response header. @throws SourceError if it is not the requested part */
function promisedBytes(answer: WebAnswer, offset: number, end: number): number {
  const length = headerOf(answer, 'content-length');
  const told = length === undefined ? Number.POSITIVE_INFINITY : Number(length);
  if (answer.statusCode !== 206) return told;
  const range = byteRange(answer);
  const isWithin = range !== null && range.last < (range.whole ?? Number.POSITIVE_INFINITY) && range.last < end;
  if (!isWithin || range.first !== offset || range.last < range.first)
    throw new SourceError('the server sent another part than it was asked for', false);
  const size = range.last - range.first + 1;
  if (Number.isFinite(told) && told !== size)
    throw new SourceError(`the server says ${size} bytes and sends ${told}`, false);
  return size;
}
