import type { WebAnswer, WebClient } from '../web-client.ts';

/** An object in its current state. */
export interface StoredObject {
  key: string;
  size: number;
  /** Whole seconds since the epoch; 0 if the store does not say. */
  modified: number;
  /** Two contents of a key never share it. */
  version: string;
}

/** A store whose objects are replaced as a whole, and never grow. */
export interface ObjectStore {
  readonly name: string;
  readonly client: WebClient;
  /** Its address if the user chose one; null at its own home. */
  readonly endpoint: string | null;
  /** The objects whose keys begin so, a page at a time. @throws SourceError */
  pages(prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredObject[]>;
  /** The answer with a part of an object; 412 if it has another version. @throws SourceError */
  get(key: string, version: string, range: string, signal: AbortSignal): Promise<WebAnswer>;
  /** The version that an answer names: null if answers of this store need not, '' if this one should and does not. */
  versionIn(answer: WebAnswer): string | null;
  /** Why the store refused. */
  refusal(answer: WebAnswer): Promise<Error>;
}
