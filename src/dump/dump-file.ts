import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { QUICK_KEYS } from '../formats/registry.ts';
import { inflate } from './inflate.ts';
import { type Facts, LineIndex, MAX_LENGTH } from './line-index.ts';
import { bad, type ParsedLine, parseLine } from './parse-line.ts';
import { type FoundFile, isGzip, isValidationStream, problemOfFile, reasonOf, stemOf, stepOfName } from './paths.ts';
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

/** Longer lines cannot become a string in Node 20. */
const MAX_STRING = 0x1fffffe8;

/** One file of a dump: its index, and its records read on demand. The file is only ever read. */
export class DumpFile {
  readonly path: string;
  readonly stream: string;
  readonly validation: boolean;
  readonly stem: string;
  /** The step that the file's name tells, null when it tells none. */
  readonly step: number | null;
  readonly index = new LineIndex();
  state: 'waiting' | 'indexing' | 'ready' | 'failed' = 'waiting';
  /** Why it could not be read, or not to its end. */
  error: string | null = null;
  bytes = 0;
  indexedBytes = 0;
  /** A .gz is unpacked into a nameless file; reads go there. */
  #inflated: number | null = null;

  constructor(found: FoundFile, isValidation: (stream: string) => boolean = isValidationStream) {
    this.path = found.path;
    this.stream = found.stream;
    this.validation = isValidation(found.stream);
    this.stem = stemOf(found.path);
    this.step = stepOfName(found.path);
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

  /** Builds the index. Failures are left in `state` and `error`. @param onProgress answers false to stop. */
  async buildIndex(onProgress: () => boolean): Promise<void> {
    this.state = 'indexing';
    try {
      this.error = problemOfFile(this.path);
      if (this.error === null) await this.#scan(onProgress);
    } catch (error) {
      this.error = reasonOf(error);
    }
    this.state = this.error !== null && this.count === 0 ? 'failed' : 'ready';
  }

  async #scan(onProgress: () => boolean): Promise<void> {
    if (isGzip(this.#head())) {
      const { fd, error } = await inflate(this.path);
      this.#inflated = fd;
      this.error = error;
    }
    // The nameless file of an archive is reached through its descriptor, which a worker thread shares.
    const handle = await open(this.#inflated === null ? this.path : `/dev/fd/${this.#inflated}`, 'r');
    try {
      this.bytes = (await handle.stat()).size;
      const scan: LineScan = { position: 0, lineStart: 0 };
      let complete = true;
      await scanLines(handle, this.index, scan, QUICK_KEYS, () => {
        this.indexedBytes = scan.position;
        complete = onProgress();
        return complete;
      });
      if (complete) await addUnendedLine(handle, this.index, scan, QUICK_KEYS);
    } finally {
      await handle.close();
    }
  }

  #head(): Uint8Array {
    const head = Buffer.alloc(2);
    const fd = openSync(this.path, 'r');
    try {
      readSync(fd, head, 0, 2, 0);
    } finally {
      closeSync(fd);
    }
    return head;
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
    const text = this.#readText(record);
    if (typeof text !== 'string') return { ...place, raw: '', ...bad(undefined, text.problem) };
    return { ...place, raw: text, ...parseLine(text, this.validation) };
  }

  #readText(record: number): string | { problem: string } {
    const offset = this.index.offset(record);
    const length = this.index.length(record);
    if (length >= Math.min(MAX_STRING, MAX_LENGTH))
      return { problem: `a line of ${length} bytes is more than can be shown` };
    // The byte before and the byte behind the line are read too: if they are not its borders, the file was written anew.
    const before = offset > 3 ? 1 : 0;
    const buffer = Buffer.allocUnsafe(before + length + 1);
    let read = 0;
    try {
      const fd = this.#inflated ?? openSync(this.path, 'r');
      try {
        const { size } = fstatSync(fd);
        if (size < offset + length) {
          return { problem: `the file shrank to ${size} bytes after it was read; this record began at byte ${offset}` };
        }
        while (read < buffer.length) {
          const got = readSync(fd, buffer, read, buffer.length - read, offset - before + read);
          if (got === 0) break;
          read += got;
        }
      } finally {
        if (this.#inflated === null) closeSync(fd);
      }
    } catch (error) {
      return { problem: `${reasonOf(error)} (it could be read before)` };
    }
    const end = before + length;
    const isWhole = (before === 0 || buffer[0] === 10) && (read === end || buffer[end] === 10);
    if (!isWhole)
      return { problem: `the file was written anew after it was read: no line starts at byte ${offset} any more` };
    const last = buffer[end - 1] === 13 ? end - 1 : end;
    return buffer.toString('utf8', before, last);
  }

  /** Where another thread finds the file's bytes. */
  get readablePath(): string {
    return this.#inflated === null ? this.path : `/dev/fd/${this.#inflated}`;
  }

  close(): void {
    if (this.#inflated !== null) closeSync(this.#inflated);
    this.#inflated = null;
  }
}
