import { QUICK_KEYS } from '../formats/registry.ts';
import { reasonOf } from '../text/problems.ts';
import { FileContent, type Identity, samplesOf } from './file-content.ts';
import { type Facts, LineIndex } from './line-index.ts';
import { bad, type ParsedLine, parseLine } from './parse-line.ts';
import { EMPTY, type FoundFile, isValidationStream, problemOfFile, stemOf, stepOfName } from './paths.ts';
import { addUnendedLine, type LineScan, scanLines } from './scan-lines.ts';

/** A record with where it lies. `raw` is the line's text; `sample` counts from 1, bad records included, blank lines not. */
export interface DumpRecord extends ParsedLine {
  locator: string;
  file: DumpFile;
  record: number;
  line: number;
  sample: number;
  bytes: number;
  raw: string;
}

/** What a look at a file found: nothing new, more lines, another content, or no file. */
export type FileChange = 'none' | 'appended' | 'replaced' | 'gone';

export interface UpdateOptions {
  /** A last line without its newline may be half of one: leave it out. */
  holdBack: boolean;
  /** Called after each chunk; answers false to stop. */
  onProgress?: () => boolean;
}

/** A step counts as written once no byte has come for so many ms. */
export const QUIET = 2000;

/** One file of a dump: its index, kept up to date with the disk, and its records, read on demand. The file is only ever read. */
export class DumpFile {
  readonly path: string;
  readonly stream: string;
  readonly validation: boolean;
  readonly stem: string;
  /** The step that the file's name tells, null when it tells none. */
  readonly step: number | null;
  index = new LineIndex();
  state: 'waiting' | 'indexing' | 'ready' | 'failed' | 'gone' = 'waiting';
  /** Why it could not be read, or not to its end. */
  error: string | null = null;
  bytes = 0;
  indexedBytes = 0;
  /** Counts the contents that the path has had; records of an earlier one are replaced. */
  generation = 0;
  /** When bytes last came, ms since the epoch. */
  lastChange = 0;
  readonly #content: FileContent;
  #identity: Identity | null = null;
  #samples: Buffer | null = null;
  #scan: LineScan = { position: 0, lineStart: 0 };
  /** The last record is a line that has no newline yet. */
  #hasUnendedLine = false;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(found: FoundFile, isValidation: (stream: string) => boolean = isValidationStream, content?: FileContent) {
    this.path = found.path;
    this.stream = found.stream;
    this.validation = isValidation(found.stream);
    this.stem = stemOf(found.path);
    this.step = stepOfName(found.path);
    this.#content = content ?? new FileContent(found.path);
  }

  get count(): number {
    return this.index.count;
  }

  score(record: number): number | null | undefined {
    return this.index.score(record);
  }

  /** The recorded step, else the one that the file's name tells. */
  stepOf(record: number): number | null {
    return this.index.step(record) ?? this.step;
  }

  facts(record: number): Facts | undefined {
    return this.index.facts(record);
  }

  locator(record: number): string {
    return `${this.path}:${this.index.line(record)}`;
  }

  /** The step may not be whole yet: bytes came a moment ago. */
  isArriving(now = Date.now()): boolean {
    return now - this.lastChange < QUIET;
  }

  /** Builds the index of a file that does not change while it is read. Failures are left in `state` and `error`. */
  async buildIndex(onProgress: () => boolean): Promise<void> {
    await this.update({ holdBack: false, onProgress });
  }

  /** Looks at the file again and brings the index up to date. Failures are left in `state` and `error`. */
  update(options: UpdateOptions): Promise<FileChange> {
    // One look at a time: two that add the same lines would double them.
    const look = this.#looking.then(() => this.#look(options));
    this.#looking = look;
    return look;
  }

  async #look(options: UpdateOptions): Promise<FileChange> {
    const isFirst = this.#identity === null;
    if (isFirst) this.state = 'indexing';
    try {
      const identity = this.#content.identity();
      const seen = this.#identity;
      if (seen !== null && isSame(seen, identity) && (options.holdBack || !this.#hasHeldBack()))
        return this.#becomeReady('none');
      this.error = !this.#content.isStream && (isFirst || identity.size === 0) ? problemOfFile(this.path) : null;
      if (this.error !== null && isFirst) {
        this.state = 'failed';
        return 'none';
      }
      const change = await this.#rescan(identity, options);
      if (!isFirst && (seen === null || !isSame(seen, identity))) this.lastChange = Date.now();
      else this.lastChange = Math.min(identity.modified, Date.now());
      if (this.error !== null && this.bytes === 0) {
        this.state = 'failed';
        return change;
      }
      return this.#becomeReady(change);
    } catch (error) {
      const isGone = ['ENOENT', 'ESTALE', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
      this.error = reasonOf(error);
      this.state = isGone && !isFirst ? 'gone' : this.count === 0 ? 'failed' : 'ready';
      return this.state === 'gone' ? 'gone' : 'none';
    }
  }

  #becomeReady(change: FileChange): FileChange {
    this.state = 'ready';
    return change;
  }

  #hasHeldBack(): boolean {
    return !this.#hasUnendedLine && this.#scan.position > this.#scan.lineStart;
  }

  async #rescan(identity: Identity, { holdBack, onProgress }: UpdateOptions): Promise<FileChange> {
    const { handle, error } = await this.#content.open();
    this.error = error;
    try {
      const isAppended = this.#isAppended(identity, handle.fd);
      const before = this.index.count;
      // A row of half a line is another row once more of it is there, though their number is the same.
      const isRowReread = this.#hasUnendedLine;
      if (!isAppended) {
        if (this.#identity !== null) this.generation++;
        this.index = new LineIndex();
        this.#scan = { position: 0, lineStart: 0 };
      } else if (this.#hasUnendedLine) {
        this.index.truncate(before - 1);
      }
      this.#hasUnendedLine = false;
      this.bytes = (await handle.stat()).size;
      if (this.bytes === 0 && this.error === null && !this.#content.isStream) this.error = EMPTY;
      let isComplete = true;
      await scanLines(handle, this.index, this.#scan, QUICK_KEYS, () => {
        this.indexedBytes = this.#scan.position;
        isComplete = onProgress?.() ?? true;
        return isComplete;
      });
      if (isComplete && !holdBack && this.#scan.position > this.#scan.lineStart) {
        const count = this.index.count;
        await addUnendedLine(handle, this.index, this.#scan, QUICK_KEYS);
        this.#hasUnendedLine = this.index.count > count;
      }
      this.#identity = identity;
      this.#samples = samplesOf(handle.fd, this.#scan.position);
      return !isAppended ? 'replaced' : this.index.count === before && !isRowReread ? 'none' : 'appended';
    } finally {
      await handle.close();
    }
  }

  /** Whether what was indexed still stands at the head of the file. A rewrite of equal size may differ in a digit: it is read again. */
  #isAppended(identity: Identity, fd: number): boolean {
    const seen = this.#identity;
    if (seen === null || this.#content.isArchive) return false;
    if (seen.device !== identity.device || seen.inode !== identity.inode || identity.size < this.#scan.position)
      return false;
    if (identity.size === seen.size && identity.modified !== seen.modified) return false;
    return this.#samples?.equals(samplesOf(fd, this.#scan.position)) ?? false;
  }

  /** Reads and parses one record. It never throws: what cannot be read is a row that says why. */
  read(record: number): DumpRecord {
    const { index } = this;
    const place = {
      locator: this.locator(record),
      file: this,
      record,
      line: index.line(record),
      sample: record + 1,
      bytes: index.length(record),
    };
    const text = this.#content.line(index.offset(record), index.length(record));
    if (typeof text !== 'string') return { ...place, raw: '', ...bad(undefined, text.problem) };
    return { ...place, raw: text, ...parseLine(text, this.validation) };
  }

  /** A record's text as it stands in the file, without a parse; null where it cannot be read. */
  raw(record: number): string | null {
    const text = this.#content.line(this.index.offset(record), this.index.length(record));
    return typeof text === 'string' ? text : null;
  }

  /** Where another thread finds the file's bytes. */
  get readablePath(): string {
    return this.#content.readablePath;
  }

  close(): void {
    this.#content.close();
  }
}

const isSame = (a: Identity, b: Identity): boolean =>
  a.device === b.device && a.inode === b.inode && a.size === b.size && a.modified === b.modified;
