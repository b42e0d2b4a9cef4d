import { uint8At } from '../../lists/at.ts';

/** A sample larger than this is read up to its events: its messages and scores come before them. */
export const LARGE_SAMPLE = 128 << 20;

/** Longer keys are irrelevant. */
const LONGEST_KEY = 40;
const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c] as const;
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d] as const;

/** A sample as an object, up to its events if it has any. */
interface SampleHead {
  text: Buffer;
  isWhole: boolean;
}

/**
 * Finds the samples in the bytes of an Inspect log, or of one sample, chunk by chunk, and returns the part of each
 * before its events. Events are most of a sample, and repeat its messages.
 */
export class LargeSamples {
  /** The depth of a sample's keys: 1 if it is the whole text, 3 inside the `samples` of a log. */
  readonly #level: number;
  readonly #isLog: boolean;
  #depth = 0;
  #isInString = false;
  /** The previous chunk ended in a backslash. */
  #isEscaped = false;
  /** The last string that may be a key, and its start in the kept bytes. */
  #key = '';
  #keyStart = 0;
  #isInSamples: boolean;
  /** The bytes of the sample, or of the log before its samples; null while nothing is kept. */
  #pieces: Buffer[] | null;
  #kept = 0;
  /** The part before the samples of a log, as an object. */
  head: Buffer | null = null;

  constructor(isLog: boolean) {
    this.#isLog = isLog;
    this.#level = isLog ? 3 : 1;
    this.#isInSamples = !isLog;
    this.#pieces = isLog ? [] : null;
  }

  /** @returns the samples that are complete enough at the end of the chunk */
  feed(chunk: Buffer): SampleHead[] {
    const found: SampleHead[] = [];
    // The kept part continues at the start of the chunk, or where a sample begins in it.
    let from = 0;
    const keep = (to: number) => {
      if (this.#pieces !== null) this.#pieces.push(Buffer.from(chunk.subarray(from, to)));
      this.#kept += to - from;
      from = to;
    };
    const take = (): Buffer => {
      const bytes = Buffer.concat(this.#pieces as Buffer[]);
      this.#pieces = null;
      return bytes;
    };
    for (let at = 0; at < chunk.length; at++) {
      if (this.#isInString) {
        const end = this.#endOfString(chunk, at);
        if (this.#depth <= this.#level && this.#key.length < LONGEST_KEY)
          this.#key += chunk.toString('latin1', at, Math.min(end, at + LONGEST_KEY));
        this.#isInString = end === chunk.length;
        at = end;
        continue;
      }
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#isInString = true;
        this.#key = '';
        this.#keyStart = this.#kept + at - from;
      } else if (byte === OPEN || byte === OPEN_LIST) {
        this.#depth++;
        if (byte === OPEN && this.#depth === this.#level && this.#isInSamples) {
          this.#pieces = [];
          this.#kept = 0;
          from = at;
        }
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        if (this.#depth === this.#level && this.#pieces !== null) {
          keep(at + 1);
          found.push({ text: take(), isWhole: true });
        }
        this.#depth--;
        if (this.#isLog && this.#depth === 1) this.#isInSamples = false;
      } else if (byte === COLON && this.#pieces !== null) {
        const isEvents = this.#isInSamples && this.#depth === this.#level && this.#key === 'events';
        const isSamples = !this.#isInSamples && this.#depth === 1 && this.#key === 'samples';
        if (!isEvents && !isSamples) continue;
        keep(at);
        const object = objectUpTo(take(), this.#keyStart);
        if (isEvents) found.push({ text: object, isWhole: false });
        else {
          this.head = object;
          this.#isInSamples = true;
        }
      }
    }
    keep(chunk.length);
    return found;
  }

  /** The position of the quote that ends the string; the chunk's length if the string continues. */
  #endOfString(chunk: Buffer, at: number): number {
    let from = this.#isEscaped ? at + 1 : at;
    for (;;) {
      const quote = chunk.indexOf(QUOTE, from);
      const end = quote === -1 ? chunk.length : quote;
      let backslashes = 0;
      while (end - backslashes > from && chunk[end - backslashes - 1] === BACKSLASH) backslashes++;
      this.#isEscaped = quote === -1 && backslashes % 2 === 1;
      if (quote === -1 || backslashes % 2 === 0) return end;
      from = quote + 1;
    }
  }
}

/** The bytes before a key as a complete object. */
function objectUpTo(bytes: Buffer, end: number): Buffer {
  let last = end - 1;
  while (last >= 0 && uint8At(bytes, last) <= 32) last--;
  return Buffer.concat([bytes.subarray(0, bytes[last] === COMMA ? last : last + 1), Buffer.from('}')]);
}
