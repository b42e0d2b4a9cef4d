import { closeSync, fstatSync, readSync, writeSync } from 'node:fs';
import { parseJson } from '../../core/json/parse.ts';
import { type Printable, printJson } from '../../core/json/print.ts';
import type { JsonObject } from '../../core/json/value.ts';
import { isJsonObject } from '../../core/json/value.ts';

const CHUNK = 1 << 18;
/** This program never writes longer lines. */
const MAX_LINE = 1 << 24;

export interface Line {
  value: JsonObject;
  /** Verbatim from the file. */
  text: string;
}

/**
 * A file of JSON objects, one per line, that several processes may append to. Each line is one write to a descriptor in append mode, which
 * the system does not interleave with others. If a dying process leaves a line unterminated, the next append terminates it and readers skip
 * it.
 */
export class LinesFile {
  readonly #open: (mode: 'read' | 'append') => number;
  /** The most bytes to read from a file. */
  readonly #most: number;
  #fd: number | null = null;
  /** Bytes read and consumed; anything after them is new, or half a line. */
  #position = 0;
  /** Inside an overlong line. */
  #isSkipping = false;
  /** Lines that are not a JSON object. */
  badLines = 0;

  /** @param open returns a descriptor, or throws the reason why it cannot */
  constructor(open: (mode: 'read' | 'append') => number, most = Number.POSITIVE_INFINITY) {
    this.#open = open;
    this.#most = most;
  }

  /**
   * @returns whether it is all that is new, and counts as read: nobody else wrote since `news` read the file
   * @throws the system's error when it cannot be written
   */
  append(value: { [key: string]: Printable } | string): boolean {
    this.#fd ??= this.#open('append');
    const text = typeof value === 'string' ? value : printJson(value);
    const { size } = fstatSync(this.#fd);
    const isRead = size === this.#position && !this.#isSkipping && size < this.#most;
    const bytes = Buffer.from(`${isRead || this.#endsInLine(this.#fd, size) ? '' : '\n'}${text}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    const end = size + bytes.length;
    if (!isRead || bytes.length > MAX_LINE || fstatSync(this.#fd).size !== end) return false;
    this.#position = end;
    return true;
  }

  #endsInLine(fd: number, size: number): boolean {
    const last = Buffer.alloc(1);
    return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 10;
  }

  /**
   * The complete lines since the last call, from every process; the first call yields all.
   * @param accepts whether the open file should be read
   */
  *news(accepts: (fd: number) => boolean = () => true): Generator<Line> {
    let fd: number;
    try {
      fd = this.#open('read');
    } catch {
      return;
    }
    try {
      if (!accepts(fd)) return;
      // A file that shrank has been replaced.
      if (fstatSync(fd).size < this.#position) this.#position = 0;
      yield* this.#lines(fd);
    } finally {
      closeSync(fd);
    }
  }

  *#lines(fd: number): Generator<Line> {
    const pieces: Buffer[] = [];
    let length = 0;
    for (let at = this.#position; at < this.#most; ) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const count = readSync(fd, chunk, 0, CHUNK, at);
      if (count === 0) return;
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1 && end < count; end = chunk.indexOf(10, start)) {
        const text = Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
        pieces.length = 0;
        length = 0;
        start = end + 1;
        this.#position = at + start;
        const value = this.#isSkipping ? null : this.#parse(text);
        this.#isSkipping = false;
        if (value !== null) yield { value, text };
      }
      at += count;
      length += count - start;
      if (length > MAX_LINE) {
        this.#isSkipping = true;
        pieces.length = 0;
        length = 0;
        this.#position = at;
      } else pieces.push(chunk.subarray(start, count));
    }
  }

  #parse(line: string): JsonObject | null {
    if (line.trim() === '') return null;
    try {
      const value = parseJson(line);
      if (isJsonObject(value)) return value;
    } catch {
      // counted below
    }
    this.badLines++;
    return null;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}
