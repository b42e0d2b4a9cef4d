import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { SourceError } from '../machine.ts';
import { dismiss, headerOf, type WebAnswer, WebClient } from '../web-client.ts';
import { answerText, patientAnswer } from './answers.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';
import { keyInAddress } from './s3.ts';

const Revision = z.object({ sha: z.string().regex(/^[\da-f]{40,64}$/) });
const Tree = z.array(
  z.object({ type: z.string(), path: z.string(), size: z.number().optional(), oid: z.string().optional() }),
);

/** A data set of the Hugging Face Hub, `ORGANISATION/NAME[@REVISION]`, as its newest commit holds it; also at HF_ENDPOINT. */
export class HfStore implements ObjectStore {
  readonly name: string;
  readonly client: WebClient;
  readonly #set: string;
  readonly #revision: string;
  readonly endpoint = process.env.HF_ENDPOINT?.replace(/\/+$/, '') ?? null;
  readonly #base = this.endpoint ?? 'https://huggingface.co';
  readonly #token = hubToken();
  /** The commit of the last list: what it holds never changes. */
  #commit = '';

  constructor(set: string, client = new WebClient()) {
    this.client = client;
    this.name = `hf://datasets/${set}`;
    const [name = '', revision = 'main'] = set.split('@');
    this.#set = name;
    this.#revision = revision;
  }

  async *pages(prefix: string, signal: AbortSignal): AsyncGenerator<StoredObject[]> {
    const api = `${this.#base}/api/datasets/${this.#set}`;
    const at = await this.#json(new URL(`${api}/revision/${encodeURIComponent(this.#revision)}`), Revision, signal);
    if (at === null) return;
    this.#commit = at.found.sha;
    // An object is listed with its neighbours; a folder with all below it.
    const folder = prefix.slice(0, Math.max(0, prefix.lastIndexOf('/')));
    const isFolder = prefix === '' || prefix.endsWith('/');
    const query = isFolder ? '?recursive=true' : '';
    const seen = new Set<string>();
    for (let url = new URL(`${api}/tree/${this.#commit}/${keyInAddress(folder)}${query}`); ; ) {
      const page = await this.#json(url, Tree, signal);
      if (page === null) return;
      yield page.found
        .filter(({ type, path }) => type === 'file' && path.startsWith(prefix))
        .map(({ path, size = Number.NaN, oid = '' }) => ({ key: path, size, modified: 0, version: oid }));
      const next = /<([^>]+)>;\s*rel="next"/.exec(page.link)?.[1];
      if (next === undefined) return;
      if (!URL.canParse(next, url) || new URL(next, url).origin !== url.origin || seen.has(next))
        throw new SourceError('the list of files does not continue', false);
      seen.add(next);
      url = new URL(next, url);
    }
  }

  async get(key: string, _version: string, range: string, signal: AbortSignal): Promise<WebAnswer> {
    const url = new URL(`${this.#base}/datasets/${this.#set}/resolve/${this.#commit}/${keyInAddress(key)}`);
    return this.client.ask(url, { headers: { range, ...this.#authorization() }, follows: true }, signal);
  }

  // A commit is named in each address.
  versionIn = (): null => null;

  async refusal(answer: WebAnswer): Promise<Error> {
    dismiss(answer);
    const { statusCode: status } = answer;
    const hint =
      status !== 401 && status !== 403
        ? ''
        : this.#token === null
          ? ': no token was found (HF_TOKEN)'
          : ': this token may not read it';
    return new SourceError(`the server answered ${status}${hint}`, status >= 500 || status === 429);
  }

  #authorization = (): Record<string, string> =>
    this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };

  /** Null for what is not there. */
  async #json<Found>(
    url: URL,
    schema: z.ZodType<Found>,
    signal: AbortSignal,
  ): Promise<{ found: Found; link: string } | null> {
    const headers = { accept: 'application/json', ...this.#authorization() };
    const answer = await patientAnswer(() => this.client.ask(url, { headers, follows: true }, signal), signal);
    if (answer.statusCode === 404) {
      dismiss(answer);
      return null;
    }
    if (answer.statusCode !== 200) throw await this.refusal(answer);
    const text = await answerText(answer);
    try {
      return { found: schema.parse(JSON.parse(text)), link: headerOf(answer, 'link') ?? '' };
    } catch {
      throw new SourceError('the answer is not a list of files', false);
    }
  }
}

/** HF_TOKEN, or the file that `hf auth login` writes. */
function hubToken(): string | null {
  const given = process.env.HF_TOKEN ?? process.env.HUGGING_FACE_HUB_TOKEN;
  if (given) return given.trim();
  const home = process.env.HF_HOME ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'huggingface');
  try {
    return readFileSync(process.env.HF_TOKEN_PATH ?? join(home, 'token'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}
