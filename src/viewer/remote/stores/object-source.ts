import { createHash } from 'node:crypto';
import { copyOfKey, keyOfCopy } from '../../../core/text/shown-path.ts';
import { type Machine, type RemoteFile, SourceError } from '../machine.ts';
import { MOST_FILES, tooManyFiles } from '../plain-path.ts';
import { byteRange, dismiss, headerOf, type WebAnswer } from '../web-client.ts';
import { patientAnswer } from './answers.ts';
import type { ObjectStore, StoredObject } from './object-store.ts';

/** Objects that are asked for at once: a way of 30 ms would hold up a run of small ones. */
const LANES = 16;

/** The objects of a store, seen as files in folders. */
export class ObjectSource implements Machine {
  readonly name: string;
  readonly lanes = LANES;
  readonly endpoint: string;
  readonly #store: ObjectStore;
  /** Of the objects of the last list, by their paths. */
  readonly #sizes = new Map<string, number>();

  constructor(store: ObjectStore) {
    this.name = store.name;
    const { endpoint } = store;
    // Not the address itself, which may hold a password.
    this.endpoint = endpoint === null ? '' : createHash('sha256').update(endpoint).digest('hex').slice(0, 12);
    this.#store = store;
  }

  async list(path: string, signal: AbortSignal): Promise<{ root: string; files: RemoteFile[] }> {
    const key = path.slice(1).replace(/\/$/, '');
    const inside = () => this.#below(key === '' ? '' : `${key}/`, signal);
    const itself = () => (key === '' || path.endsWith('/') ? [] : this.#itself(key, signal));
    // A name with an ending is more likely one of an object.
    const first = /\.\w+$/.test(key) ? [itself, inside] : [inside, itself];
    for (const found of first) {
      const objects = await found();
      if (objects.length === 0) continue;
      const files = objects.map(remoteFileOf);
      this.#sizes.clear();
      for (const { path, size } of files) this.#sizes.set(path, size);
      return { root: pathOf(key), files };
    }
    throw new SourceError('no such object, and none below that name', false);
  }

  async *read(path: string, offset: number, end: number, signal: AbortSignal, version = ''): AsyncGenerator<Buffer> {
    const range = `bytes=${offset}-${Number.isFinite(end) ? end - 1 : ''}`;
    const known = version.startsWith(UNKNOWN) ? '' : version;
    const answer = await patientAnswer(() => this.#store.get(keyOfCopy(path.slice(1)), known, range, signal), signal);
    const { statusCode: status } = answer;
    const isHere = status === 200 || status === 206;
    const named = this.#store.versionIn(answer);
    const isOther = isHere && known !== '' && named !== null && named !== '' && named !== known;
    if (status === 404 || status === 412 || isOther) {
      dismiss(answer);
      throw new SourceError(`${path} was replaced while it was read`, true, true);
    }
    if (!isHere) throw await this.#store.refusal(answer);
    const size = this.#sizes.get(path);
    if (named !== known && (named === '' || (size !== undefined && sizeIn(answer) !== size))) {
      dismiss(answer);
      throw new SourceError(
        `the answer is not ${path}; something on the way to the store, such as a proxy, wrote it`,
        true,
      );
    }
    yield* this.#store.client.bytes(answer, offset, end, signal);
  }

  close(): void {
    this.#store.client.close();
  }

  async #itself(key: string, signal: AbortSignal): Promise<StoredObject[]> {
    // In the order of a list, a key comes before all that it begins.
    for await (const page of this.#store.pages(key, signal)) return page.filter((object) => object.key === key);
    return [];
  }

  async #below(prefix: string, signal: AbortSignal): Promise<StoredObject[]> {
    const objects: StoredObject[] = [];
    for await (const page of this.#store.pages(prefix, signal)) {
      // A name that ends in a slash is an empty folder.
      for (const object of page) if (!object.key.endsWith('/')) objects.push(object);
      if (objects.length > MOST_FILES) throw tooManyFiles(`/${prefix}`);
    }
    return withoutFolders(objects);
  }
}

/** The size of the whole object of which an answer is a part; NaN if it does not say. */
const sizeIn = (answer: WebAnswer): number =>
  answer.statusCode === 206
    ? (byteRange(answer)?.whole ?? Number.NaN)
    : Number(headerOf(answer, 'content-length') ?? Number.NaN);

/** A name may be both an object and the folder of others; here it can only be the folder. */
function withoutFolders(objects: readonly StoredObject[]): StoredObject[] {
  const folders = new Set<string>();
  for (const { key } of objects)
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) {
      const folder = key.slice(0, at);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return objects.filter(({ key }) => !folders.has(key));
}

const remoteFileOf = ({ key, size, modified, version }: StoredObject): RemoteFile => ({
  path: pathOf(key),
  size,
  modified,
  inode: '',
  version: version === '' ? `${UNKNOWN}${modified}.${size}` : version,
});

const pathOf = (key: string): string => (key === '' ? '/' : `/${copyOfKey(key)}`);

/** A version that the store does not name is known by its time and size alone. */
const UNKNOWN = 'time:';
