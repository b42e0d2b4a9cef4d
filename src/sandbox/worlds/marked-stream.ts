import type { Readable } from 'node:stream';

/** Bytes kept of a stream. */
const MAX_OUTPUT = 16 * 1024 * 1024;

interface StreamPart {
  bytes: Buffer;
  found: boolean;
  /** The rest of the line after the mark. */
  line: string;
}

/** The bytes of a stream, cut at marks. */
export class MarkedStream {
  #held: Buffer[] = [];
  #size = 0;
  #isOver = false;
  #isAbandoned = false;
  #wake: (() => void) | null = null;

  constructor(stream: Readable) {
    stream.on('data', (bytes: Buffer) => {
      if (this.#isAbandoned) return;
      // An endless stream keeps its beginning and its newest part.
      this.#held.push(bytes);
      this.#size += bytes.length;
      if (this.#size > MAX_OUTPUT) this.#shorten();
      this.#wake?.();
    });
    stream.on('error', () => {});
  }

  #shorten(): void {
    const whole = Buffer.concat(this.#held);
    this.#held = [whole.subarray(0, MAX_OUTPUT / 2), whole.subarray(-MAX_OUTPUT / 4)];
    this.#size = (MAX_OUTPUT / 4) * 3;
  }

  /** Keeps nothing that comes from now on; whoever writes is not held up. */
  abandon(): void {
    this.#isAbandoned = true;
    this.drop();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** Everything received so far; a partial read is abandoned. */
  drop(): Buffer {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#size = 0;
    return bytes;
  }

  /** The bytes up to a mark, which is removed; with `isLine` also the rest of its line. */
  async until(mark: string, isLine = false): Promise<StreamPart> {
    let seen = 0;
    for (;;) {
      const isThere = this.#hasSince(seen, mark);
      seen = this.#size;
      if (isThere) {
        const whole = Buffer.concat(this.#held);
        const at = whole.indexOf(mark);
        const end = isLine ? whole.indexOf('\n', at) : at + mark.length - 1;
        if (at !== -1 && end !== -1) {
          this.#held = [whole.subarray(end + 1)];
          this.#size = whole.length - end - 1;
          return {
            bytes: whole.subarray(0, at),
            found: true,
            line: whole.subarray(at + mark.length, end).toString('utf8'),
          };
        }
        seen = at;
      }
      if (this.#isOver) return { bytes: this.drop(), found: false, line: '' };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Whether a mark is in what came since `seen` bytes, joining only that: output may be endless. */
  #hasSince(seen: number, mark: string): boolean {
    let left = this.#size - seen + mark.length;
    let from = this.#held.length;
    while (from > 0 && left > 0) left -= this.#held[--from]?.length ?? 0;
    return Buffer.concat(this.#held.slice(from)).includes(mark);
  }
}
