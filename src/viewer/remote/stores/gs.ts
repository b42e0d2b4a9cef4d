import { dismiss, headerOf, type WebAnswer, WebClient } from '../web-client.ts';
import { GoogleToken } from './google-token.ts';
import type { ObjectStore } from './object-store.ts';
import { keyInAddress } from './s3.ts';
import { elementText, listedPages, xmlRefusal } from './xml-list.ts';

/** Google Cloud Storage by its XML interface, which gives lists as S3 does; also one at STORAGE_EMULATOR_HOST. */
export class GsStore implements ObjectStore {
  readonly name: string;
  readonly client = new WebClient();
  readonly #token = new GoogleToken(this.client);
  readonly endpoint: string | null;
  readonly #base: string;
  #isSigned = false;

  constructor(bucket: string) {
    this.name = `gs://${bucket}`;
    const host = process.env.STORAGE_EMULATOR_HOST?.replace(/\/+$/, '');
    this.endpoint = host === undefined || /^https?:\/\//.test(host) ? (host ?? null) : `http://${host}`;
    this.#base = `${this.endpoint ?? 'https://storage.googleapis.com'}/${bucket}`;
  }

  pages(prefix: string, signal: AbortSignal) {
    return listedPages(
      prefix,
      (query) => this.#ask(`?${new URLSearchParams(query)}`, {}, signal),
      (xml) => elementText(xml, 'Generation'),
      (answer) => this.refusal(answer),
      signal,
    );
  }

  get(key: string, version: string, range: string, signal: AbortSignal): Promise<WebAnswer> {
    const match = version === '' ? undefined : { 'x-goog-if-generation-match': version };
    return this.#ask(`/${keyInAddress(key)}`, { range, ...match }, signal);
  }

  versionIn = (answer: WebAnswer): string | null => headerOf(answer, 'x-goog-generation') ?? null;

  refusal = (answer: WebAnswer): Promise<Error> => xmlRefusal(answer, this.#isSigned);

  async #ask(place: string, headers: Record<string, string>, signal: AbortSignal): Promise<WebAnswer> {
    for (let attempt = 1; ; attempt++) {
      const token = await this.#token.current(signal);
      this.#isSigned = token !== null;
      // A file that is kept packed would be unpacked on the way, and its length be unknown.
      const own = {
        'accept-encoding': 'gzip',
        ...headers,
        ...(token !== null && { authorization: `Bearer ${token}` }),
      };
      const answer = await this.client.ask(new URL(this.#base + place), { headers: own, isRaw: true }, signal);
      if (answer.statusCode !== 401 || token === null || attempt > 1) return answer;
      dismiss(answer);
      this.#token.forget();
    }
  }
}
