import type { Address } from './address.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';
import { byteRange, dismiss, headerOf, type WebAnswer, WebClient, type WebClientOptions } from './web-client.ts';

export interface WebSourceOptions extends WebClientOptions {
  /** It is replaced as a whole and does not grow, so it may come in parts. */
  isFixed?: boolean;
}

/** One file behind a URL, by range requests: only appended bytes are requested, or of one that does not grow the parts that are read. */
export class WebSource implements Machine {
  readonly name: string;
  readonly #origin: string;
  readonly #client: WebClient;
  readonly #isFixed: boolean;
  /** As it was listed. */
  #size: number | null = null;

  constructor({ name }: Pick<Extract<Address, { kind: 'https' }>, 'name'>, options: WebSourceOptions = {}) {
    this.name = name;
    this.#origin = name;
    this.#isFixed = options.isFixed === true;
    this.#client = new WebClient(options);
  }

  async list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }> {
    const answer = await this.#asked(path, { range: 'bytes=0-0' }, signal);
    dismiss(answer);
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
    this.#size = size;
    const version = this.#isFixed && answer.statusCode === 206 ? validatorOf(answer) : null;
    return { root: path, files: [{ path, size, modified, inode: '', ...(version !== null && { version }) }] };
  }

  async *read(
    path: string,
    offset: number,
    end: number,
    signal: AbortSignal,
    version?: string,
  ): AsyncGenerator<Buffer> {
    const range = `bytes=${offset}-${Number.isFinite(end) ? end - 1 : ''}`;
    const answer = await this.#asked(path, { range, ...(version !== undefined && { 'if-range': version }) }, signal);
    // Whoever does not look at If-Range names what was sent all the same; a time of change has seconds only.
    const whole = byteRange(answer)?.whole ?? null;
    if (version !== undefined && (validatorOf(answer) !== version || (whole !== null && whole !== this.#size))) {
      dismiss(answer);
      throw new SourceError(`${path} was replaced while it was read`, true, true);
    }
    if (answer.statusCode === 416) return dismiss(answer);
    yield* this.#client.bytes(answer, offset, end, signal);
  }

  close(): void {
    this.#client.close();
  }

  async #asked(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<WebAnswer> {
    const answer = await this.#client.ask(new URL(this.#origin + path), { headers, follows: true }, signal);
    const { statusCode: status } = answer;
    if ((status >= 200 && status <= 299) || status === 416) return answer;
    dismiss(answer);
    throw new SourceError(`the server answered ${status}`, status >= 500);
  }
}

/** A strong ETag, else the time of the last change, to tell two contents of a file apart; null if the server says neither. */
function validatorOf(answer: WebAnswer): string | null {
  const tag = headerOf(answer, 'etag');
  if (tag?.startsWith('"')) return tag;
  return headerOf(answer, 'last-modified') ?? null;
}
