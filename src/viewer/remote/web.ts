import type { Address } from './address.ts';
import { type Machine, type RemoteFile, SourceError } from './machine.ts';
import { byteRange, dismiss, headerOf, type WebAnswer, WebClient, type WebClientOptions } from './web-client.ts';

/** One file behind a URL, by range requests: only appended bytes are requested. */
export class WebSource implements Machine {
  readonly name: string;
  readonly #origin: string;
  readonly #client: WebClient;

  constructor({ name }: Pick<Extract<Address, { kind: 'https' }>, 'name'>, options: WebClientOptions = {}) {
    this.name = name;
    this.#origin = name;
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
    return { root: path, files: [{ path, size, modified, inode: '' }] };
  }

  async *read(path: string, offset: number, end: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    const answer = await this.#asked(path, { range: `bytes=${offset}-${Number.isFinite(end) ? end - 1 : ''}` }, signal);
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
