import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { AwsV4Signer } from 'aws4fetch';
import { SourceError } from '../machine.ts';
import { dismiss, headerOf, type WebAnswer, WebClient } from '../web-client.ts';
import { type AwsKeyChain, awsKeyChain } from './aws-keys.ts';
import type { ObjectStore } from './object-store.ts';
import { elementText, listedPages, xmlRefusal } from './xml-list.ts';

const DEFAULT_REGION = 'us-east-1';

/** S3, and stores that speak its protocol at AWS_ENDPOINT_URL. */
export class S3Store implements ObjectStore {
  readonly name: string;
  readonly client: WebClient;
  readonly #bucket: string;
  readonly endpoint: string | null;
  #region = process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION ?? DEFAULT_REGION;
  #chain: Promise<AwsKeyChain> | null = null;
  #isSigned = false;

  constructor(bucket: string) {
    this.name = `s3://${bucket}`;
    this.#bucket = bucket;
    const endpoint = process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL;
    this.endpoint = endpoint?.replace(/\/+$/, '') ?? null;
    if (this.endpoint !== null && !/^https?:\/\//.test(this.endpoint))
      throw new SourceError('AWS_ENDPOINT_URL is not an https address', false);
    const bundle = process.env.AWS_CA_BUNDLE;
    this.client = new WebClient(
      bundle === undefined ? {} : { authorities: [...rootCertificates, readFileSync(bundle, 'utf8')] },
    );
  }

  pages(prefix: string, signal: AbortSignal) {
    return listedPages(
      prefix,
      (query) => this.#ask('', query, {}, signal),
      (xml) => elementText(xml, 'ETag'),
      (answer) => this.refusal(answer),
      signal,
    );
  }

  get(key: string, version: string, range: string, signal: AbortSignal): Promise<WebAnswer> {
    return this.#ask(key, {}, { range, ...(version !== '' && { 'if-match': version }) }, signal);
  }

  versionIn = (answer: WebAnswer): string => headerOf(answer, 'etag') ?? '';

  refusal = (answer: WebAnswer): Promise<Error> => xmlRefusal(answer, this.#isSigned);

  async #ask(
    key: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    signal: AbortSignal,
  ): Promise<WebAnswer> {
    for (const isFirst of [true, false]) {
      const url = this.#url(key, query);
      const answer = await this.client.ask(url, { headers: await this.#signed(url, headers), isRaw: true }, signal);
      const region = headerOf(answer, 'x-amz-bucket-region');
      const isElsewhere =
        [301, 307, 400].includes(answer.statusCode) && region !== undefined && region !== this.#region;
      if (!isElsewhere || !isFirst || !/^[a-z\d-]+$/.test(region)) return answer;
      dismiss(answer);
      this.#region = region;
    }
    throw new SourceError('it leads from region to region', false);
  }

  #url(key: string, query: Record<string, string>): URL {
    // A certificate for *.s3… holds no name with dots.
    const isPath = this.endpoint !== null || this.#bucket.includes('.');
    const host = this.endpoint ?? `https://${isPath ? '' : `${this.#bucket}.`}s3.${this.#region}.amazonaws.com`;
    const url = new URL(`${host}${isPath ? `/${this.#bucket}` : ''}/${keyInAddress(key)}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    // A plus would be signed as a space.
    url.search = url.search.replaceAll('+', '%20');
    return url;
  }

  async #signed(url: URL, headers: Record<string, string>): Promise<Record<string, string>> {
    this.#chain ??= awsKeyChain();
    const keys = await (await this.#chain)();
    this.#isSigned = keys !== null;
    // Some buckets are open to all.
    if (keys === null) return headers;
    const signer = new AwsV4Signer({
      url: url.href,
      headers,
      accessKeyId: keys.accessKeyId,
      secretAccessKey: keys.secretAccessKey,
      sessionToken: keys.sessionToken ?? '',
      service: 's3',
      region: this.#region,
    });
    const signed: Headers = (await signer.sign()).headers;
    return { ...headers, ...Object.fromEntries(signed) };
  }
}

/** Each character that a signature might see in two ways is written by its number. */
export const keyInAddress = (key: string): string =>
  key
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');
