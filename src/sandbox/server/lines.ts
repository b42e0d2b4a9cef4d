import { itemAt } from '../../core/lists/at.ts';

// Lines of a channel that a hostile program may reach. Node's readline keeps an endless line whole, and crashed the server
// at one of 512 MB; here a line has a maximum length.

const NEWLINE = 10;

export class LineSplitter {
  readonly #longest: number;
  readonly #onLine: (line: Buffer) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #length = 0;
  #dropping = false;

  /** @param onTooLong called once for a line of more than `longest` bytes; the rest of that line is dropped */
  constructor(longest: number, onLine: (line: Buffer) => void, onTooLong: () => void = () => {}) {
    this.#longest = longest;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, end));
      from = end + 1;
      const line = this.#parts.length === 1 ? itemAt(this.#parts, 0) : Buffer.concat(this.#parts, this.#length);
      const whole = !this.#dropping;
      this.#parts = [];
      this.#length = 0;
      this.#dropping = false;
      if (whole) this.#onLine(line);
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    if (this.#dropping) return;
    this.#length += part.length;
    this.#parts.push(part);
    if (this.#length <= this.#longest) return;
    this.#dropping = true;
    this.#parts = [];
    this.#length = 0;
    this.#onTooLong();
  }
}
