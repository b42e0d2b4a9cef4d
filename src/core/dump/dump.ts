import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ReadContext } from '../formats/format.ts';
import type { GroupKey } from '../rollout/group-key.ts';
import { DumpFile, type DumpRecord, type FileChange } from './dump-file.ts';
import { FactsCache } from './facts-cache.ts';
import { FactsPass } from './facts-pass.ts';
import { distinctFolders } from './file-names.ts';
import { LONG_RECORD, LongRecords } from './long-record.ts';
import { bad } from './parse-line.ts';
import { EMPTY, type FoundFile, type FoundPaths, findFiles, inOrder, isValidationStream, UsageError } from './paths.ts';
import type { Place, Progress, Work } from './place.ts';
import type { ReadMarks } from './read-marks.ts';

export type { Place, Progress } from './place.ts';

export interface DumpOptions {
  /** Whether a stream's name means validation rollouts; by default val, valid, validation, val_… do. */
  isValidation?: (stream: string) => boolean;
  /** The user's settings for the records: their format, or where the parts of a foreign format are. */
  reading?: Omit<ReadContext, 'validation'>;
  /** The folder that keeps facts between sessions. */
  facts?: string;
  /** The rollouts that this user has read, in any dump. */
  reads?: ReadMarks;
  /** Takes how far long work over all records has come. */
  onWork?: ((work: Work) => void) | undefined;
  /** A screen shows it, so reading threads give way to the one that answers keys. */
  givesWay?: boolean;
  /** Named paths may be missing; the dump waits for them. */
  waits?: boolean;
  /**
   * A last line without its newline may be incomplete: `while-arriving` leaves it out until its file has been quiet for
   * a while, `always` leaves it out, the default includes it.
   */
  holdBack?: 'while-arriving' | 'always';
}

/** A change on disk: rows `from`… of a file are new, or a file was replaced or removed. */
export interface DumpChange {
  kind: Exclude<FileChange, 'none'>;
  file: DumpFile;
  /** The first row that is new; 0 for a replaced file. */
  from: number;
}

/** Byte limit on the lines of cached parsed records; a parsed record takes about three times as much memory. */
const CACHE_BYTES = 8 << 20;

/** The shortest ms between two reports of a walk. */
const REPORT_MS = 100;
/** The shortest ms between two calls of the listeners: a screen can show no more. */
const FRAME_MS = 16;
/**
 * Listeners rest four times as long as they ran (what they have drawn takes about as long again), so that most of the time
 * goes to the work they wait for, up to a limit that nobody notices.
 */
const REST = 4;
const LONGEST_REST_MS = 200;
/** While records come in, most of what a listener learns is their count, and each frame that says so is one that a key waits for. */
const BUSY_FRAME_MS = 100;
/** ms of looking at files before a key has its turn. */
const SLICE_MS = 8;

/** A record, by its place in the current content of its file. */
const fileKey = ({ file, record }: Place): string =>
  `${file.index.offset(record)}.${file.index.part(record)} ${file.generation} ${file.path}`;

/**
 * The files of one run in display order (stream, then step), indexed in the background, the newest train step first.
 */
export class Dump {
  readonly paths: readonly string[];
  /** One line per directory or file that cannot be read. */
  readonly notices: string[] = [];
  /** A named path could not be read, though others could. */
  hasRefused = false;
  /** None of the named paths exists any more: the file system is unmounted, or the run was removed. */
  isAway = false;
  /** It came through a stream that has ended, so nothing more will come. */
  hasEnded = false;
  readonly holdBack: boolean;
  /** A line without its newline is shown once its file is quiet. */
  readonly showsUnended: boolean;
  #files: DumpFile[] = [];
  readonly #cache: FactsCache | null;
  readonly seen: ReadMarks | null;
  readonly #options: DumpOptions;
  readonly #isValidation: (stream: string) => boolean;
  readonly #reading: Omit<ReadContext, 'validation'>;
  readonly #listeners = new Set<() => void>();
  readonly #changeListeners = new Set<(change: DumpChange) => void>();
  #isNotified = false;
  #recordCount: number | null = null;
  /** The earliest time of the next report of a walk. */
  #nextReport = 0;
  /** The earliest time of the next listener call. */
  #nextNotice = 0;
  #isClosed = false;
  #isIndexed = false;
  /** Files that are no longer listed. One that comes back under the same name is another. */
  readonly #dropped = new WeakSet<DumpFile>();
  readonly #longRecords = new LongRecords();
  readonly #facts: FactsPass;
  readonly #records = new LRUCache<string, DumpRecord>({ maxSize: CACHE_BYTES, maxEntrySize: CACHE_BYTES });
  readonly #keys = new WeakMap<DumpFile, { version: string; keys: Promise<(GroupKey | null)[]> }>();
  /** Files of rollouts under way, by path: they are read, but are not in the list. */
  readonly #underWay = new Map<string, DumpFile>();

  private constructor(paths: readonly string[], options: DumpOptions) {
    this.paths = paths;
    this.#options = options;
    this.#facts = new FactsPass(
      () => this.notify(),
      (file) => {
        file.index.columns.settle();
        file.keep();
      },
      options.givesWay ?? false,
    );
    this.#cache = options.facts === undefined ? null : FactsCache.at(options.facts);
    this.seen = options.reads ?? null;
    this.holdBack = options.holdBack !== undefined;
    this.showsUnended = options.holdBack !== 'always';
    this.#isValidation = options.isValidation ?? isValidationStream;
    this.#reading = options.reading ?? {};
  }

  /** @throws UsageError for a path that is missing (unless the dump waits), unreadable, empty or binary */
  static open(paths: readonly string[], options: DumpOptions = {}): Dump {
    if (paths.length === 0) throw new UsageError('no path given: name a directory or a file of a dump');
    const dump = new Dump(paths, options);
    dump.#take(findFiles(paths, options.waits ?? false));
    return dump;
  }

  /** A dump of one file whose bytes come from elsewhere, such as a stream. */
  static of(file: DumpFile): Dump {
    const dump = new Dump([], { holdBack: 'always' });
    dump.#files = [file];
    return dump;
  }

  /** Another dump with the same reading options. @throws UsageError like `open` */
  beside(path: string): Dump {
    return Dump.open([path], this.#options);
  }

  /** Records of all files, as of the last time that the listeners were called. */
  get recordCount(): number {
    this.#recordCount ??= this.#files.reduce((sum, file) => sum + file.count, 0);
    return this.#recordCount;
  }

  get files(): readonly DumpFile[] {
    return this.#files;
  }

  #take({ files, notices, refused }: FoundPaths): void {
    this.notices.push(...refused, ...notices);
    this.hasRefused = refused.length > 0;
    this.#nameFiles(files.map((file) => this.#fileOf(file)));
  }

  #nameFiles(files: DumpFile[]): void {
    const folders = distinctFolders(files.map(({ path }) => path));
    for (const file of files) file.folders = folders.get(file.path) ?? '';
    this.#files = files;
  }

  #fileOf(found: FoundFile): DumpFile {
    const file = new DumpFile(found, this.#isValidation, undefined, this.#reading, this.#cache);
    file.reads = this.seen;
    return file;
  }

  /** The file of a rollout under way, which is in no list. @param opens false: null unless it is open already */
  underWay(path: string): DumpFile;
  underWay(path: string, opens: false): DumpFile | null;
  underWay(path: string, opens = true): DumpFile | null {
    const known = this.#underWay.get(path);
    if (known !== undefined || !opens) return known ?? null;
    const file = new DumpFile({ path, stream: 'under way' }, () => false, undefined, this.#reading);
    this.#underWay.set(path, file);
    return file;
  }

  isUnderWay(file: DumpFile): boolean {
    return this.#underWay.get(file.path) === file;
  }

  /** The rollout has finished or disappeared. */
  forgetUnderWay(path: string): void {
    this.#underWay.get(path)?.close();
    this.#underWay.delete(path);
  }

  /**
   * The file to show first: the newest step of the first train stream; a stream without steps opens at its last file.
   */
  newest(): DumpFile | undefined {
    const train = this.files.filter((file) => !file.validation);
    const candidates = train.length > 0 ? train : this.files;
    const { stream } = candidates[0] ?? { stream: '' };
    const own = candidates.filter((file) => file.stream === stream);
    return own.reduce<DumpFile | undefined>(
      (best, file) => ((file.step ?? -1) >= (best?.step ?? -1) ? file : best),
      undefined,
    );
  }

  /** Indexes every file, the newest train step first, then its neighbours; then a thread extracts facts. */
  async start(): Promise<void> {
    const newest = this.newest();
    const from = newest === undefined ? 0 : this.files.indexOf(newest);
    const order = this.files
      .map((file, i) => ({ file, distance: Math.abs(i - from) }))
      .sort((a, b) => a.distance - b.distance);
    let since = performance.now();
    for (const { file } of order) {
      if (this.#isClosed) return;
      if (file.state === 'waiting') await this.refresh(file);
      // Files that are not here are looked at without a pause of their own.
      if (performance.now() - since < SLICE_MS) continue;
      await turn();
      since = performance.now();
    }
    this.#isIndexed = true;
    this.#facts.background(order.map(({ file }) => file));
    this.notify();
  }

  /** Looks at a file and updates its index. @param holdBack leave out a last line without its newline */
  async refresh(file: DumpFile, holdBack = this.holdBack): Promise<void> {
    if (this.#isClosed || this.#dropped.has(file)) return;
    const { count: before, error: knownError, generation, state } = file;
    const change = await file.update({
      holdBack,
      inThread: true,
      onProgress: () => {
        this.notify();
        return !this.#isClosed;
      },
    });
    if (this.#dropped.has(file)) return;
    // A live run creates empty files and removes them; no notice for those.
    const isNews = file.error !== knownError && file.state !== 'gone' && !(this.holdBack && file.error === EMPTY);
    if (file.error !== null && isNews) this.notices.push(`${file.path}: ${file.error}`);
    if (file.wasRewritten) {
      this.notices.push(
        `${file.path}: it was rewritten since its facts were kept: they were dropped, and it is read again`,
      );
      file.wasRewritten = false;
    }
    if (change !== 'none') {
      const isNew = generation === file.generation && change !== 'gone';
      this.#changed({ kind: isNew ? 'appended' : change, file, from: isNew ? Math.min(before, file.count) : 0 });
      if (this.#isIndexed) this.#facts.add(file);
    }
    // Ten thousand files that are as they were need no frame.
    if (change !== 'none' || file.state !== state || file.error !== knownError) this.notify();
  }

  index(file: DumpFile): Promise<void> {
    return this.refresh(file, false);
  }

  /** Checks the named paths for new and removed files. @returns the new ones, not yet indexed */
  rescan(): DumpFile[] {
    if (this.paths.length === 0) return [];
    const found = findFiles(this.paths, true).files;
    const isAway = found.length === 0 && this.#files.length > 0;
    if (isAway !== this.isAway) this.notify();
    this.isAway = isAway;
    const known = new Map(this.#files.map((file) => [file.path, file]));
    const isThere = new Set(found.map((file) => file.path));
    const added = found.filter((file) => !known.has(file.path)).map((file) => this.#fileOf(file));
    // If nothing at all is left, the file system is probably unmounted: files that were read stay listed until it is
    // back.
    const removed = found.length === 0 ? [] : this.#files.filter((file) => !isThere.has(file.path));
    if (added.length === 0 && removed.length === 0) return [];
    this.#nameFiles([...this.#files.filter((file) => !removed.includes(file)), ...added].sort(inOrder));
    for (const file of removed) {
      this.#dropped.add(file);
      this.#changed({ kind: 'gone', file, from: 0 });
    }
    this.notify();
    return added;
  }

  /** Records come in, or are examined. */
  get isFilling(): boolean {
    return !this.#isIndexed || this.#facts.isBusy;
  }

  progress(): Progress {
    if (!this.#isIndexed) {
      // Unopened files have no known size; assume the mean of the opened ones.
      const known = this.files.filter((file) => file.state !== 'waiting');
      // Files of a store that are not here are a line each, beside others of megabytes: they are counted instead.
      if (known.some((file) => file.isAway)) return { phase: 'index', done: known.length, total: this.files.length };
      // How many bytes a packed file unpacks to is known at its end.
      if (known.some((file) => file.copiedBytes > 0)) {
        const done = known.filter(({ state }) => state !== 'indexing').length;
        return { phase: 'index', done, total: this.files.length };
      }
      const bytes = known.reduce((sum, file) => sum + file.bytes, 0);
      const total = known.length === 0 ? 0 : (bytes / known.length) * this.files.length;
      return { phase: 'index', done: known.reduce((sum, file) => sum + file.indexedBytes, 0), total };
    }
    return this.#facts.progress(this.files);
  }

  /** Calls the listener after changes, at most once a frame. @returns a function that removes it */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener for every change on disk, in order. @returns a function that removes it */
  onChange(listener: (change: DumpChange) => void): () => void {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  #changed(change: DumpChange): void {
    for (const listener of this.#changeListeners) listener(change);
  }

  /** Prioritises the facts of these records: they are on the screen. */
  want(places: readonly Place[]): void {
    this.#facts.want(places);
  }

  /** Every record that exists now was examined, or cannot be. */
  whenLooked(): Promise<void> {
    this.#facts.background(this.#files);
    return this.#facts.whenDone();
  }

  /**
   * Extracts the facts of these records before all others. @returns once they are known, or cannot be
   * @param needsDetails the records will be listed
   */
  lookAt(file: DumpFile, records: readonly number[], needsDetails = false): Promise<void> {
    return this.#facts.lookAt(file, records, needsDetails);
  }

  /**
   * The answer to a question to all rollouts: the kept one, as long as no file changed, or else a new one.
   * @param question names what is asked, with all that the answer depends on besides the files
   */
  async remember<Answer>(question: string, answer: () => Promise<Answer>): Promise<Answer> {
    const cache = this.#cache;
    const content = cache === null ? null : this.#contentName();
    if (cache === null || content === null) return answer();
    const name = nameOfQuestion(this.paths, question);
    // Only this program writes it, and its digest and version were compared.
    const kept = cache.readAnswer(name, content) as Answer | undefined;
    if (kept !== undefined) return kept;
    const made = await answer();
    if (this.#contentName() === content) cache.writeAnswer(name, content, made);
    return made;
  }

  /** Names the content of all files; null while records are to be examined, or may change without a trace. */
  #contentName(): string | null {
    const hash = createHash('sha256');
    for (const file of this.files) {
      const name = this.isLooked(file) ? file.contentName : null;
      if (name === null) return null;
      hash.update(`${name}\n`);
    }
    return hash.digest('hex');
  }

  /** Stores the facts of files for later sessions. */
  whenKept(): Promise<void> {
    return this.#cache?.whenWritten() ?? Promise.resolve();
  }

  /** Pauses the background pass while a user's request reads the records. */
  pauseFacts(isPaused: boolean): void {
    this.#facts.pause(isPaused);
  }

  /**
   * Resolves once every record was examined, for commands; indexes the rest first. @param onProgress called now and
   * then
   */
  async lookAtAll(onProgress: () => void = () => {}): Promise<void> {
    for (const file of this.#files) {
      await file.buildIndex(() => {
        this.reached(file, 0);
        return !this.#isClosed;
      });
    }
    this.#isIndexed = true;
    const stop = this.subscribe(() => {
      this.#options.onWork?.({ what: 'reading', ...this.progress() });
      onProgress();
    });
    this.#facts.background(this.#files);
    await this.#facts.whenDone();
    await this.whenKept();
    stop();
  }

  /** Reports that a walk over all files in their order has come to this record. */
  reached(file: DumpFile, record: number): void {
    const { onWork } = this.#options;
    if (onWork === undefined || performance.now() < this.#nextReport) return;
    this.#nextReport = performance.now() + REPORT_MS;
    const part = file.count === 0 ? 0 : record / file.count;
    onWork({ what: 'reading', done: this.#files.indexOf(file) + part, total: this.#files.length });
  }

  /** Names of extra values in the records seen so far, such as `acc`. */
  get extras(): ReadonlySet<string> {
    return this.#facts.extras;
  }

  /** All facts of a file's records are known, except for unreadable records. */
  isLooked(file: DumpFile): boolean {
    return this.#facts.isDone(file);
  }

  /** One record, parsed; cached while memory allows. */
  read(place: Place): DumpRecord {
    const kept = this.kept(place);
    if (kept !== undefined) return kept;
    const found = place.file.read(place.record);
    this.#records.set(fileKey(place), found, { size: Math.max(1, found.bytes) });
    return found;
  }

  /** The record, if it is cached. */
  kept(place: Place): DumpRecord | undefined {
    const kept = this.#records.get(fileKey(place));
    // A held-back last line may have become another line at the same place.
    return kept?.bytes === place.file.index.length(place.record) ? kept : undefined;
  }

  /** A record that takes too long to read between two keys. */
  isLong = ({ file, record }: Place): boolean => file.index.length(record) > LONG_RECORD;

  /** Reads a long record in a thread. @param isWanted cancels it by returning false; the result is then null */
  async readLong({ file, record }: Place, isWanted: () => boolean): Promise<DumpRecord | null> {
    this.#facts.pause(true, true);
    const parsed = await this.#longRecords
      .read(file.whereabouts(record), isWanted)
      .finally(() => this.#facts.pause(false, true));
    if (!isWanted()) return null;
    const failed = 'it could not be read: its file has changed, or it takes more memory than there is';
    const found = Object.assign(file.pending(record), parsed ?? bad(undefined, failed));
    delete found.isPending;
    return found;
  }

  /** The group keys of a file's records, in order; null for a bad record. Cached until the file changes. */
  groupKeys(file: DumpFile): Promise<(GroupKey | null)[]> {
    const { version } = file;
    const kept = this.#keys.get(file);
    if (kept?.version === version) return kept.keys;
    const keys = this.#facts.groupKeys(file);
    this.#keys.set(file, { version, keys });
    return keys;
  }

  close(): void {
    this.#isClosed = true;
    this.#facts.close();
    this.#longRecords.close();
    for (const file of [...this.files, ...this.#underWay.values()]) file.close();
    this.#listeners.clear();
    this.#changeListeners.clear();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  notify(): void {
    if (this.#isNotified || this.#isClosed) return;
    this.#isNotified = true;
    const wait = this.#nextNotice - performance.now();
    if (wait <= 0) setImmediate(this.#announce);
    else setTimeout(this.#announce, wait);
  }

  readonly #announce = (): void => {
    this.#isNotified = false;
    this.#recordCount = null;
    if (this.#isClosed) return;
    const start = performance.now();
    for (const listener of this.#listeners) listener();
    const end = performance.now();
    const frame = this.isFilling ? BUSY_FRAME_MS : FRAME_MS;
    // Listeners iterate over all files: calling them for each of 10,000 files would take a minute.
    this.#nextNotice = Math.max(start + frame, end + Math.min(LONGEST_REST_MS, (end - start) * REST));
  };
}

/** The name under which the last answer to a question about these paths is kept. */
const nameOfQuestion = (paths: readonly string[], question: string): string =>
  createHash('sha256')
    .update(JSON.stringify([paths.map((path) => resolve(path)), question]))
    .digest('hex')
    .slice(0, 40);
