import { dirname, resolve } from 'node:path';
import { FORM_RECORDS } from '../chat/forms.ts';
import type { ReadContext } from '../formats/format.ts';
import { isJsonObject } from '../json/value.ts';
import type { Facts } from '../rollout/fact-row.ts';
import { reasonOf } from '../text/problems.ts';
import { errorCode } from '../text/thrown.ts';
import { awayRow } from './away-file.ts';
import { ContentScan } from './content-scan.ts';
import { contentOf, type FactsCache, type KeptFile, nameOf } from './facts-cache.ts';
import { digestOf, FileContent, type Identity, isCompleted, NOWHERE, samplesOf } from './file-content.ts';
import { hasSameForms } from './file-forms.ts';
import { LineIndex } from './line-index.ts';
import type { Locator } from './locator.ts';
import type { LongRecordPlace } from './long-record.ts';
import { tooLarge } from './memory-limit.ts';
import { awayLine, originOf } from './origins.ts';
import { bad, type ParsedLine, parseLine } from './parse-line.ts';
import { EMPTY, type FoundFile, isValidationStream, problemOfFile, stemOf, stepOfName } from './paths.ts';
import type { ReadMarks } from './read-marks.ts';
import type { RecordDetails } from './record-details.ts';
import { recordFactsOf } from './record-facts.ts';
import { isPastLine, locatorIn, placeInFile, recordNamed, whyNowhere } from './record-name.ts';
import { AWAY_SHAPE, linesShape } from './shape.ts';
import type { UnknownRecords } from './unknown-records.ts';

/**
 * A record and its place. `raw` is the line's text; `sample` counts from 1, including bad records but not blank lines.
 */
export interface DumpRecord extends ParsedLine {
  /** It is long and still being read in a thread; until then it holds no rollout. */
  isPending?: true;
  locator: string;
  file: DumpFile;
  record: number;
  line: number;
  sample: number;
  bytes: number;
  raw: string;
  /** SHA-256 of its text, in hexadecimal, if a thread has read it. */
  hash?: string;
}

/** The result of looking at a file: nothing new, more lines, different content, or no file. */
export type FileChange = 'none' | 'appended' | 'replaced' | 'gone';

export interface UpdateOptions {
  /** A last line without its newline may be incomplete: leave it out. */
  holdBack: boolean;
  /** Somebody is at the keyboard: do slow work in a thread. */
  inThread?: boolean;
  /** No record before this line will be asked for: see `openContainer`. */
  nearest?: number;
  /** Called after each chunk; returns false to stop. */
  onProgress?: () => boolean;
}

/** A step counts as written once no byte has come for this many ms. */
export const QUIET = 2000;

/** Bytes of a file whose lines take longer to find than their kept index to read. */
const LARGE = 8 << 20;

/** An age in ms at which clock differences no longer matter. */
export const LONG_AGO = 10 * 60_000;

/**
 * One file of a dump: its index, kept up to date with the disk, and its records, read on demand. The file is never
 * written.
 */
export class DumpFile {
  readonly path: string;
  readonly stream: string;
  readonly validation: boolean;
  readonly stem: string;
  /** The folders that distinguish it from the dump's other files of its name, such as `train/`; set by the dump. */
  folders = '';
  readonly #numberOfName: number | null;
  /** A measure of its records from the groups of the whole dump, by name; set by whoever computes all groups. */
  measures: ((name: string) => Float64Array) | null = null;
  /** Findings of whole steps, for the records that they concern; set by whoever examined all steps. */
  signals: ReadonlyMap<number, readonly string[]> | null = null;
  /** The rollouts that this user has read; null if that is not tracked. */
  reads: ReadMarks | null = null;
  state: 'waiting' | 'indexing' | 'ready' | 'failed' | 'gone' = 'waiting';
  /** Why it could not be read, or not completely. */
  error: string | null = null;
  bytes = 0;
  /** Counts the contents that the path has had; records of an earlier one are replaced. */
  generation = 0;
  /** When the last bytes came, ms since the epoch. */
  lastChange = 0;
  /** How its records are read: the user's settings, and whether they were trained on. */
  readonly context: ReadContext;
  readonly #content: FileContent;
  readonly #isFound: boolean;
  #identity: Identity | null = null;
  #samples: string | null = null;
  readonly #cache: FactsCache | null;
  /** Kept facts of a file whose index must be rebuilt. */
  #kept: KeptFile | null = null;
  /** The records of a file found on a walk that no format knows: they are no rows. */
  leftOut: UnknownRecords | null = null;
  /** The part of a known writer's files that one without rollouts is, if it was only found on a walk. */
  part: string | null = null;
  /** The kept state belongs to this path. */
  #isOwnKept = false;
  /** The facts kept for it belonged to a different content. */
  wasRewritten = false;
  #scan: ContentScan;
  /** How often a partial line was a row and was read again. */
  #rereads = 0;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(
    found: FoundFile,
    isValidation: (stream: string) => boolean = isValidationStream,
    content?: FileContent,
    said: Omit<ReadContext, 'validation'> = {},
    cache: FactsCache | null = null,
  ) {
    this.#cache = cache;
    this.path = found.path;
    this.stream = found.stream;
    this.validation = isValidation(found.stream);
    this.context = { ...said, validation: this.validation, directory: dirname(found.path), file: found.path };
    this.#isFound = found.isFound === true;
    this.stem = stemOf(found.path);
    this.#numberOfName = stepOfName(found.path);
    this.#content = content ?? new FileContent(found.path);
    this.#scan = new ContentScan(this.#content, this.context);
  }

  get index(): LineIndex {
    return this.#scan.index;
  }

  get indexedBytes(): number {
    return this.#scan.position;
  }

  get count(): number {
    return this.index.count;
  }

  /** Changes whenever any row may have changed. */
  get version(): string {
    return `${this.generation}.${this.count}.${this.#rereads}`;
  }

  /** The step in the file's name, or null. */
  get step(): number | null {
    return this.#scan.shape?.isStepless === true ? null : this.#numberOfName;
  }

  /** Its only row is a placeholder for a file of another machine that has not arrived yet. */
  get isAway(): boolean {
    return this.#scan.shape?.isAway === true;
  }

  /** The bytes of a record; of a file that is not here yet, those of its original. */
  sizeOf(record: number): number {
    return (this.isAway ? originOf(this.path)?.known : undefined) ?? this.index.length(record);
  }

  score(record: number): number | null | undefined {
    return this.index.score(record);
  }

  /** The recorded step, else the one in the file's name. */
  stepOf(record: number): number | null {
    return this.index.step(record) ?? this.step;
  }

  facts(record: number): Facts | undefined {
    return this.index.facts(record);
  }

  /** The tool whose failed calls `error.kind` names; null if there is none. */
  failedTool(record: number): string | null {
    return this.index.columns.failedTool(record);
  }

  /** Other values that a list shows of a record, if they were kept; null: only the record has them. */
  details(record: number): RecordDetails | null {
    const { columns } = this.index;
    return this.index.isLooked(record) ? columns.details.at(record) : null;
  }

  get #named() {
    return { path: this.path, index: this.index, copy: this.#scan.copy };
  }

  locator(record: number): string {
    return locatorIn(this.#named, record);
  }

  /** The part of a locator after the file's path. */
  placeOf(record: number): string {
    return placeInFile(this.#named, record);
  }

  /** How the file is packed: lines, zip, parquet … */
  get container(): string {
    return this.#content.kind ?? 'lines';
  }

  /** The size of the copy from which its records are read; 0 if they are read in place. */
  get copiedBytes(): number {
    return this.#scan.copy === null ? 0 : this.indexedBytes;
  }

  /** See `isPastLine`. */
  isPast(line: number): boolean {
    return isPastLine(this.#named, line);
  }

  /** See `recordNamed`. */
  recordAt(place: Pick<Locator, 'line' | 'part' | 'member'>): number {
    return recordNamed(this.#named, place);
  }

  /** See `whyNowhere`. A place that is not read yet, or cannot be, may still be there. */
  whyNot(place: Pick<Locator, 'line' | 'part' | 'member'>): string {
    const isBeingRead = this.state === 'waiting' || this.state === 'indexing';
    if (isBeingRead && !this.isPast(place.line ?? this.count))
      return 'it is still being read, and this place is not known yet';
    if (this.count === 0 && this.error !== null) return this.error;
    return whyNowhere(this.#named, place);
  }

  /** Whether this user has read it; null if that is not tracked. */
  isRead(record: number): boolean | null {
    return this.reads?.has(this.path, this.index, record) ?? null;
  }

  markRead(record: number): void {
    this.reads?.add(this.path, this.index, record);
  }

  /** The step may be incomplete: bytes came a moment ago, or its original holds more. */
  isArriving(now = Date.now()): boolean {
    return now - this.lastChange < QUIET || this.bytes < (originOf(this.path)?.known ?? 0);
  }

  /** All its bytes are those that its original had when copying began: nothing was added meanwhile. */
  get isOldNews(): boolean {
    const origin = originOf(this.path);
    return origin !== null && this.bytes <= origin.known;
  }

  /** Builds the index of a file that does not change meanwhile. Failures are stored in `state` and `error`. */
  async buildIndex(onProgress: () => boolean, nearest = 1): Promise<void> {
    await this.update({ holdBack: false, onProgress, nearest });
  }

  /** Looks at the file again and updates the index. Failures are stored in `state` and `error`. */
  update(options: UpdateOptions): Promise<FileChange> {
    // One look at a time: two that add the same lines would duplicate them.
    const look = this.#looking.then(() => this.#look(options));
    this.#looking = look;
    return look;
  }

  async #look(options: UpdateOptions): Promise<FileChange> {
    const isFirst = this.#identity === null;
    const wasGone = this.state === 'gone';
    if (isFirst) this.state = 'indexing';
    try {
      const identity = this.#content.identity();
      // Those who heard that its records were gone have dropped them.
      if (wasGone) this.generation++;
      if (this.#isPlaceholder(identity)) return this.#becomeReady('replaced');
      const isKept = isFirst && this.#restore(identity, options.holdBack);
      const seen = this.#identity;
      if (seen !== null && isSameFile(seen, identity) && (options.holdBack || !this.#scan.hasHeldBack)) {
        if (isKept) this.lastChange = this.#changeOf(identity.modified, false);
        return this.#becomeReady(isKept || wasGone ? 'replaced' : 'none');
      }
      if (seen !== null && this.error === null && isCompleted(seen, identity)) {
        this.#identity = identity;
        this.keep();
        return this.#becomeReady(wasGone ? 'replaced' : 'none');
      }
      const isUnknown = (isFirst && !isKept) || identity.size === 0;
      const isThere = !this.#content.isStream && awayLine(this.path) === undefined;
      this.error = isThere && isUnknown ? problemOfFile(this.path) : null;
      if (this.error !== null && isFirst) {
        this.state = 'failed';
        return 'none';
      }
      const change = await this.#rescan(identity, options);
      if (this.isAway && this.count === 1) this.index.setFacts(0, recordFactsOf(this.read(0)));
      // Renaming a file or changing its mode only changes its entry: it is read again, without a notice.
      const isEntryAlone = seen?.size === identity.size && seen.modified === identity.modified;
      if (isKept) this.wasRewritten = change === 'replaced' && this.#isOwnKept && !isEntryAlone;
      const isNew = !isFirst && (seen === null || seen.size !== identity.size || seen.modified !== identity.modified);
      this.lastChange = this.#changeOf(identity.modified, isNew);
      const isNothing = this.bytes === 0 || (this.#scan.copy !== null && this.#scan.position === 0);
      if (this.error !== null && isNothing) {
        this.state = 'failed';
        return change;
      }
      if (isFirst && !isKept) this.#keepIndex(identity);
      // The first result counts as new, however much was already known.
      return this.#becomeReady(isFirst || wasGone ? 'replaced' : change);
    } catch (error) {
      const isGone = ['ENOENT', 'ESTALE', 'ENOTDIR'].includes(errorCode(error) ?? '');
      this.error = reasonOf(error);
      this.state = isGone && !isFirst ? 'gone' : this.count === 0 ? 'failed' : 'ready';
      return this.state === 'gone' && !wasGone ? 'gone' : 'none';
    }
  }

  /** Another machine's file that is not here needs no reading: what its row says is known. */
  #isPlaceholder(identity: Identity): boolean {
    const { device, size, modified } = identity;
    const seen = this.#identity;
    if (seen !== null && (device !== NOWHERE || isSameFile(seen, identity))) return false;
    const row = awayRow(this.path, identity, this.context);
    if (row === null) return false;
    const { index, standIn } = row;
    if (standIn !== null) this.#content.readAt(standIn);
    if (seen !== null) this.generation++;
    const state = { position: size, lineStart: size, hasUnendedLine: false };
    this.#scan = ContentScan.of(this.#content, this.context, index, AWAY_SHAPE, state);
    this.#identity = identity;
    this.error = null;
    this.bytes = size;
    this.lastChange = this.#changeOf(modified, false);
    return true;
  }

  /** @param modified the time of the file itself */
  #changeOf(modified: number, isNew: boolean): number {
    const origin = originOf(this.path);
    if (origin !== null && this.bytes <= origin.known) return Math.min(origin.modified, Date.now());
    // The mtime of a copy may be when its source was written; the clocks of a server and this machine differ by less.
    const isNow = isNew && (origin !== null || Date.now() - modified < LONG_AGO);
    return isNow ? Date.now() : Math.min(modified, Date.now());
  }

  #becomeReady(change: FileChange): FileChange {
    this.state = 'ready';
    return change;
  }

  async #rescan(
    identity: Identity,
    { holdBack, inThread = false, nearest, onProgress }: UpdateOptions,
  ): Promise<FileChange> {
    const { handle, shape, copy, isAlone } = await this.#content.open(this.context, inThread, nearest);
    try {
      const isAppended = copy === null && this.#isAppended(identity, handle.fd) && !this.#hasNewForms(identity.size);
      const before = this.index.count;
      // The row of a partial line changes when more of it arrives, though the count stays the same.
      const isRowReread = this.#scan.hasUnendedLine;
      if (!isAppended) {
        if (this.#identity !== null) this.generation++;
        this.#scan = new ContentScan(this.#content, this.context, copy);
      } else if (isRowReread) {
        this.#scan.forgetUnendedLine();
        this.#rereads++;
      }
      this.bytes = copy === null ? (await handle.stat()).size : identity.size;
      if (this.bytes === 0 && this.error === null && !this.#content.isStream) this.error = EMPTY;
      const isComplete = await this.#scan.goOn(handle, shape, onProgress);
      if (isComplete && !holdBack) await this.#scan.addUnendedLine(handle);
      this.error ??= copy?.error ?? null;
      // Records of a copy may include data from other files, which may have changed; a file that comes in parts has no time of its change.
      const isDigested = copy !== null && (!isAlone || identity.changed === 0);
      const { position } = this.#scan;
      this.#samples = isDigested ? await digestOf(handle, position) : samplesOf(handle.fd, position);
      this.#identity = identity;
      this.#takeKept(identity, this.#samples);
      this.#nameWhatItIs();
      return !isAppended ? 'replaced' : this.index.count === before && !isRowReread ? 'none' : 'appended';
    } finally {
      await handle.close();
    }
  }

  /** The first records tell how the turns of all are read: more of them may tell more. */
  #hasNewForms(size: number): boolean {
    if (this.#identity === null || this.count === 0 || this.count >= FORM_RECORDS) return false;
    return !hasSameForms(this.path, this.#scan.position, size, this.context, parseLine);
  }

  /**
   * A file without rollouts says what it is; a file of unknown kind that was only found on a walk is not part of the
   * dump.
   */
  #nameWhatItIs(): void {
    const { shape, copy } = this.#scan;
    if (shape?.kind === 'none') {
      if (this.#isFound) this.part = `no rollout: ${shape.says}`;
      else this.error ??= `no rollout: ${shape.says}`;
    }
    if (this.#isFound && copy !== null && shape?.kind === 'lines' && !shape.isKnown) {
      const first = this.count === 0 ? null : this.read(0);
      if (first?.isUnknown && isJsonObject(first.json)) this.leftOut = { count: this.count, first: first.json };
      else this.part = first?.error ?? null;
      this.#scan.index = new LineIndex();
    }
  }

  /**
   * Whether the indexed part is still at the start of the file. A rewrite of equal size may differ in one digit, so
   * such a file is read again.
   */
  #isAppended(identity: Identity, fd: number): boolean {
    const seen = this.#identity;
    if (seen === null || this.#content.isArchive) return false;
    if (seen.device !== identity.device || seen.inode !== identity.inode || identity.size < this.#scan.position)
      return false;
    const { modified, changed } = identity;
    if (identity.size === seen.size && (modified !== seen.modified || changed !== seen.changed)) return false;
    return this.#samples === samplesOf(fd, this.#scan.position);
  }

  get #keptName(): string {
    const { device, inode } = this.#identity ?? this.#content.identity();
    // The place is not part of how records are read.
    return nameOf(device, inode, { ...this.context, directory: undefined, file: undefined });
  }

  /** Restores the state of the file that another session kept. @returns whether its index is restored */
  #restore(identity: Identity, holdBack: boolean): boolean {
    const kept = this.#content.isStream ? null : (this.#cache?.read(this.#keptName) ?? null);
    if (kept === null || kept.device !== identity.device || kept.inode !== identity.inode) return false;
    if (kept.index === null) {
      this.#kept = kept;
      return false;
    }
    const shape = linesShape(kept.shape);
    const index = shape === null ? null : LineIndex.of(kept.index, kept.facts, kept.position);
    if (shape === null || index === null) return false;
    const { device, inode, size, modified, changed, samples } = kept;
    // File systems reuse the inode of a removed file: that does not mean this file was rewritten.
    this.#isOwnKept = kept.path === resolve(this.path) && index.looked > 0;
    this.#identity = { device, inode, size, modified, changed };
    this.#samples = samples;
    this.#scan = ContentScan.of(this.#content, this.context, index, shape, kept);
    if (holdBack && kept.hasUnendedLine) this.#scan.forgetUnendedLine();
    this.bytes = size;
    return true;
  }

  /** Takes over kept facts if the rebuilt index covers the same bytes. */
  #takeKept(identity: Identity, samples: string): void {
    const kept = this.#kept;
    this.#kept = null;
    if (kept === null || !isSameFile(kept, identity) || kept.samples !== samples) return;
    if (kept.count === this.index.count && kept.recordBytes === this.index.recordBytes)
      this.index.takeColumns(kept.facts);
  }

  /** Names everything that an answer about its records depends on; null if they may change without a trace. */
  get contentName(): string | null {
    if (this.#identity === null || this.#content.isStream || this.error !== null) return null;
    const content = contentOf({ ...this.#identity, samples: this.#samples ?? '', count: this.count });
    return [resolve(this.path), this.stream, this.step, this.#keptName, content].join(' ');
  }

  /** Keeps the places of a large file's lines before anything else is known of it. */
  #keepIndex(identity: Identity): void {
    const { shape, copy, position } = this.#scan;
    const isPlain = copy === null && shape?.kind === 'lines' && shape.isKnown;
    if (isPlain && position === identity.size && identity.size >= LARGE) this.keep();
  }

  /** Keeps the file's state for a later session. */
  keep(): void {
    if (this.#cache === null || this.#identity === null || this.#content.isStream || this.error !== null) return;
    if (this.isAway) return;
    const { copy, shape, state } = this.#scan;
    const isPlain = copy === null && shape?.kind === 'lines';
    this.#cache.write(this.#keptName, {
      path: resolve(this.path),
      ...this.#identity,
      samples: this.#samples ?? '',
      ...state,
      shape,
      count: this.count,
      recordBytes: this.index.recordBytes,
      index: isPlain ? this.index.store() : null,
      facts: this.index.columns,
    });
  }

  /** Reads and parses one record. Never throws: an unreadable record is a row that says why. */
  read(record: number): DumpRecord {
    const { index } = this;
    const place = this.#placeOf(record);
    const problem = tooLarge(this.context.memory, index.length(record));
    if (problem !== null) return { ...place, raw: '', ...bad(undefined, problem) };
    const text = this.#content.line(index.offset(record), index.length(record));
    if (typeof text !== 'string') return { ...place, raw: '', ...bad(undefined, text.problem) };
    // Not by a spread, which would ask for its findings.
    return Object.assign(parseLine(text, this.context, index.part(record)), place, { raw: text });
  }

  /** A long record before it is read. Its text is read on demand. */
  pending(record: number): DumpRecord {
    const place = this.#placeOf(record);
    const [offset, bytes] = [this.index.offset(record), this.index.length(record)];
    let raw: string | null = null;
    const read = () => {
      const text = this.#content.line(offset, bytes);
      return typeof text === 'string' ? text : '';
    };
    return {
      ...place,
      isPending: true,
      json: undefined,
      rollout: null,
      error: null,
      findings: [],
      get raw() {
        raw ??= read();
        return raw;
      },
    };
  }

  /** The place at which a thread finds a record. */
  whereabouts(record: number): LongRecordPlace {
    const { index, context } = this;
    const [offset, length, part] = [index.offset(record), index.length(record), index.part(record)];
    return { path: this.readablePath, offset, length, part, context };
  }

  #placeOf(record: number): Omit<DumpRecord, 'raw' | keyof ParsedLine> {
    return {
      locator: this.locator(record),
      file: this,
      record,
      line: this.index.line(record),
      sample: record + 1,
      bytes: this.index.length(record),
    };
  }

  /** A record's text as it is in the file, without parsing; null if it cannot be read. */
  raw(record: number): string | null {
    const text = this.#content.line(this.index.offset(record), this.index.length(record));
    return typeof text === 'string' ? text : null;
  }

  /** The path at which another thread finds the file's bytes. */
  get readablePath(): string {
    return this.#content.readablePath;
  }

  close(): void {
    this.#content.close();
  }
}

const isSameFile = (a: Identity, b: Identity): boolean =>
  a.device === b.device &&
  a.inode === b.inode &&
  a.size === b.size &&
  a.modified === b.modified &&
  a.changed === b.changed;
