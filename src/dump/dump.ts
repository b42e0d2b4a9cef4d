import { LRUCache } from 'lru-cache';
import type { GroupKey } from '../rollout/group-key.ts';
import { DumpFile, type DumpRecord } from './dump-file.ts';
import { FactsPass, type Place } from './facts-pass.ts';
import { findFiles, isValidationStream, UsageError } from './paths.ts';
import { RecordWorker } from './record-worker-client.ts';

export type { Place } from './facts-pass.ts';

export interface DumpOptions {
  /** Says of a stream's name that it holds validation rollouts; by default val, valid, validation, val_… do. */
  isValidation?: (stream: string) => boolean;
}

export interface Progress {
  phase: 'index' | 'facts' | 'done';
  /** Bytes while indexing, records while looking for facts. */
  done: number;
  total: number;
}

/** Parsed records that are kept, by the bytes of their lines; a parsed record takes about three times as much memory. */
const CACHE_BYTES = 8 << 20;

/** What one run wrote: files in display order (stream, then step), indexed in the background, the newest train step first. */
export class Dump {
  readonly files: readonly DumpFile[];
  /** A line for each directory or file that cannot be read. */
  readonly notices: string[];
  #listeners = new Set<() => void>();
  #isNotified = false;
  #isClosed = false;
  #isIndexed = false;
  readonly #worker = new RecordWorker();
  readonly #facts = new FactsPass(this.#worker, () => this.#notify());
  readonly #records = new LRUCache<string, DumpRecord>({ maxSize: CACHE_BYTES, maxEntrySize: CACHE_BYTES });
  readonly #keys = new WeakMap<DumpFile, { count: number; keys: Promise<(GroupKey | null)[]> }>();

  private constructor(files: DumpFile[], notices: string[]) {
    this.files = files;
    this.notices = notices;
  }

  /** @throws UsageError for a path that is missing, unreadable, empty or binary */
  static open(paths: readonly string[], options: DumpOptions = {}): Dump {
    if (paths.length === 0) throw new UsageError('no path given: name a directory or a file of a dump');
    const { files, notices } = findFiles(paths);
    const isValidation = options.isValidation ?? isValidationStream;
    return new Dump(
      files.map((file) => new DumpFile(file, isValidation)),
      notices,
    );
  }

  /** The file to show first: the newest step of the first train stream; a stream without steps opens at its last file. */
  newest(): DumpFile | undefined {
    const train = this.files.filter((file) => !file.validation);
    const candidates = train.length > 0 ? train : this.files;
    const { stream } = candidates[0] ?? { stream: '' };
    const own = candidates.filter((file) => file.stream === stream);
    const newest = own.reduce<DumpFile | undefined>(
      (best, file) => ((file.step ?? -1) >= (best?.step ?? -1) ? file : best),
      undefined,
    );
    return newest;
  }

  /** Indexes every file, the newest train step first, then its neighbours; then looks for facts in a thread. */
  async start(): Promise<void> {
    const newest = this.newest();
    const from = newest === undefined ? 0 : this.files.indexOf(newest);
    const order = this.files
      .map((file, i) => ({ file, distance: Math.abs(i - from) }))
      .sort((a, b) => a.distance - b.distance);
    for (const { file } of order) {
      if (this.#isClosed) return;
      if (file.state === 'waiting') await this.index(file);
    }
    this.#isIndexed = true;
    this.#facts.background(order.map(({ file }) => file));
    this.#notify();
  }

  async index(file: DumpFile): Promise<void> {
    await file.buildIndex(() => {
      this.#notify();
      return !this.#isClosed;
    });
    if (file.error !== null) this.notices.push(`${file.path}: ${file.error}`);
    this.#notify();
  }

  progress(): Progress {
    if (!this.#isIndexed) {
      // Sizes of files that were not opened yet are not known; they count as the mean of those that were.
      const known = this.files.filter((file) => file.state !== 'waiting');
      const bytes = known.reduce((sum, file) => sum + file.bytes, 0);
      const total = known.length === 0 ? 0 : (bytes / known.length) * this.files.length;
      return { phase: 'index', done: known.reduce((sum, file) => sum + file.indexedBytes, 0), total };
    }
    return this.#facts.progress(this.files);
  }

  /** The listener is told at most once a macrotask that something changed. @returns a function that ends it */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Facts of these records are wanted before all others: they are on the screen. */
  want(places: readonly Place[]): void {
    this.#facts.want(places);
  }

  /** One record, parsed. It is kept while memory allows. */
  read({ file, record }: Place): DumpRecord {
    const key = `${file.index.offset(record)} ${file.path}`;
    const kept = this.#records.get(key);
    if (kept) return kept;
    const found = file.read(record);
    this.#records.set(key, found, { size: Math.max(1, found.bytes) });
    return found;
  }

  /** The group keys of a file's records, in their order; null for a bad record. Kept until the file grows. */
  groupKeys(file: DumpFile): Promise<(GroupKey | null)[]> {
    const kept = this.#keys.get(file);
    if (kept?.count === file.count) return kept.keys;
    const keys = this.#facts.groupKeys(file);
    this.#keys.set(file, { count: file.count, keys });
    return keys;
  }

  close(): void {
    this.#isClosed = true;
    this.#worker.close();
    for (const file of this.files) file.close();
    this.#listeners.clear();
  }

  #notify(): void {
    if (this.#isNotified || this.#isClosed) return;
    this.#isNotified = true;
    setImmediate(() => {
      this.#isNotified = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
