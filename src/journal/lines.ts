import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { parseJson } from '../json/parse.ts';
import { type Printable, printJson } from '../json/print.ts';
import type { JsonObject } from '../json/value.ts';
import { isJsonObject } from '../json/value.ts';

const CHUNK = 1 << 18;

/**
 * A file of JSON objects, one a line, that several processes may append to. Each line goes out in one write of a descriptor in append
 * mode, which the system does not interleave with another. A line that a dying process left without its end is closed by the next
 * append, and left out when reading.
 */
export class LinesFile {
  readonly path: string;
  #fd: number | null = null;
  /** Bytes that were read and taken; what is behind them is new, or half a line. */
  #position = 0;
  /** Lines that are no JSON object. */
  badLines = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws the system's error when it cannot be written */
  append(value: { [key: string]: Printable }): void {
    this.#fd ??= openSync(this.path, 'a+');
    const bytes = Buffer.from(`${this.#endsInLine(this.#fd) ? '' : '\n'}${printJson(value)}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
  }

  #endsInLine(fd: number): boolean {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 10;
  }

  /** The whole lines that came since the last call, of every process; the first call gives all. */
  *news(): Generator<JsonObject> {
    let fd: number;
    try {
      fd = openSync(this.path, 'r');
    } catch {
      return;
    }
    try {
      // A file that shrank is another one.
      if (fstatSync(fd).size < this.#position) this.#position = 0;
      let rest = Buffer.alloc(0);
      const chunk = Buffer.allocUnsafe(CHUNK);
      for (let at = this.#position; ; ) {
        const count = readSync(fd, chunk, 0, CHUNK, at);
        if (count === 0) return;
        at += count;
        rest = Buffer.concat([rest, chunk.subarray(0, count)]);
        let start = 0;
        for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, start)) {
          const line = rest.toString('utf8', start, end);
          this.#position += end + 1 - start;
          start = end + 1;
          const value = this.#parse(line);
          if (value !== null) yield value;
        }
        rest = rest.subarray(start);
      }
    } finally {
      closeSync(fd);
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
